//! The places of a source file at which one small change makes another program.

use std::ops::Range;

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, ReturnType, Signature, UnOp};

/// One change: at these bytes of the file other text, which holds the old text too.
pub struct Mutant {
    pub bytes: Range<usize>,
    pub line: usize,
    /// What stands there in its place while the mutant is chosen.
    pub instead: String,
    pub kind: Kind,
}

/// How the old text and the new one are put together.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// One expression or the other.
    Expression,
    /// The new text returns before the old one begins.
    Body,
}

/// Each mutant of a file; none of what is compiled for tests alone, of constants or of what macros are given.
pub fn find(text: &str) -> syn::Result<Vec<Mutant>> {
    let mut finder = Finder { text, found: Vec::new() };
    finder.visit_file(&syn::parse_file(text)?);
    Ok(finder.found)
}

struct Finder<'t> {
    text: &'t str,
    found: Vec<Mutant>,
}

/// Methods of which each can stand where the other does.
const TWINS: [(&str, &str); 7] = [
    ("any", "all"),
    ("min", "max"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("min_by_key", "max_by_key"),
    ("is_some_and", "is_none_or"),
    ("starts_with", "ends_with"),
];

impl Finder<'_> {
    fn old(&self, span: Span) -> &str {
        &self.text[span.byte_range()]
    }

    fn add(&mut self, span: Span, instead: String, kind: Kind) {
        self.found.push(Mutant { bytes: span.byte_range(), line: span.start().line, instead, kind });
    }

    fn replace(&mut self, whole: Span, part: Span, with: &str) {
        let (whole_at, part_at) = (whole.byte_range(), part.byte_range());
        let instead =
            format!("{}{with}{}", &self.text[whole_at.start..part_at.start], &self.text[part_at.end..whole_at.end]);
        self.add(whole, instead, Kind::Expression);
    }

    /// A function that comes back with nothing done.
    fn function(&mut self, signature: &Signature, body: &Block) {
        if signature.constness.is_some() || body.stmts.is_empty() {
            return;
        }
        let instead: &[&str] = match &signature.output {
            ReturnType::Default => &["return;"],
            ReturnType::Type(_, kind) => match kind.to_token_stream().to_string().split(' ').next().unwrap_or_default()
            {
                "bool" => &["return true;", "return false;"],
                "Option" => &["return None;"],
                "Vec" | "String" | "BTreeMap" | "BTreeSet" => &["return Default::default();"],
                _ => &[],
            },
        };
        let inside = body.stmts[0].span();
        for text in instead {
            let bytes = inside.byte_range();
            let mutant = Mutant {
                bytes: bytes.start..bytes.start,
                line: inside.start().line,
                instead: text.to_string(),
                kind: Kind::Body,
            };
            self.found.push(mutant);
        }
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|one| one.path().is_ident("test") || one.to_token_stream().to_string().contains("cfg (test)"))
}

/// Whether an expression binds names, as `a && let Some(b) = c` does: nothing else can stand in its place.
fn binds(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => matches!(binary.op, BinOp::And(_)) && (binds(&binary.left) || binds(&binary.right)),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_for_tests(&item.attrs) && item.sig.constness.is_none() {
            self.function(&item.sig, &item.block);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if item.sig.constness.is_none() {
            self.function(&item.sig, &item.block);
            visit::visit_impl_item_fn(self, item);
        }
    }

    // What is computed while compiling cannot ask which mutant is chosen.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_expr_repeat(&mut self, _: &'ast syn::ExprRepeat) {}

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let with = match binary.op {
            BinOp::Eq(_) => "!=",
            BinOp::Ne(_) => "==",
            BinOp::Lt(_) => "<=",
            BinOp::Le(_) => "<",
            BinOp::Gt(_) => ">=",
            BinOp::Ge(_) => ">",
            BinOp::And(_) => "||",
            BinOp::Or(_) => "&&",
            BinOp::Add(_) => "-",
            BinOp::Sub(_) => "+",
            _ => "",
        };
        if !with.is_empty() && !binds(&binary.left) && !binds(&binary.right) {
            self.replace(binary.span(), binary.op.span(), with);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        if matches!(unary.op, UnOp::Not(_)) {
            let instead = self.old(unary.expr.span()).to_string();
            self.add(unary.span(), instead, Kind::Expression);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        let twin = TWINS.iter().find_map(|(one, other)| match name.as_str() {
            name if name == *one => Some(*other),
            name if name == *other => Some(*one),
            _ => None,
        });
        if let Some(twin) = twin {
            self.replace(call.span(), call.method.span(), twin);
        }
        if name == "is_empty" {
            let instead = format!("!{}", self.old(call.span()));
            self.add(call.span(), instead, Kind::Expression);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_lit(&mut self, literal: &'ast syn::ExprLit) {
        if let syn::Lit::Int(int) = &literal.lit
            && let Ok(number) = int.base10_parse::<u64>()
            && int.suffix().is_empty()
        {
            self.add(literal.span(), (number + 1).to_string(), Kind::Expression);
        }
    }
}
