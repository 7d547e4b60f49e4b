//! What a cubin and a PTX say of themselves.

use crate::types::{Arch, Version};

/// Where a cubin, which is an ELF file, holds what, in bytes from its start.
mod at {
    pub const OSABI: usize = 7;
    pub const MACHINE: usize = 18;
    pub const FLAGS: usize = 48;
}

/// The number of the machine of all CUDA code in an ELF header.
const EM_CUDA: u16 = 190;

/// The number of the architecture a cubin was compiled for, 90 for `sm_90`; of a suffix it says nothing that could be
/// relied on. None: it is no cubin, or one of a kind that this program does not know.
///
/// Where the number stands was read off the cubins of all compilers from CUDA 11.7 to 13.5: `tests/machine/kernels.rs` does.
pub fn sm_number(cubin: &[u8]) -> Option<u32> {
    let machine = u16::from_le_bytes(cubin.get(at::MACHINE..at::MACHINE + 2)?.try_into().ok()?);
    let flags = u32::from_le_bytes(cubin.get(at::FLAGS..at::FLAGS + 4)?.try_into().ok()?);
    match (cubin.starts_with(b"\x7fELF") && machine == EM_CUDA, cubin[at::OSABI]) {
        (true, 0x33) => Some(flags & 0xff),
        (true, 0x41) => Some(flags >> 8 & 0xff),
        _ => None,
    }
}

/// The PTX ISA and the target that a PTX claims: `7.7` and `sm_35`.
pub fn ptx_claims(ptx: &str) -> Option<(Version, Arch)> {
    let isa = Version::parse(directive(ptx, ".version")?).ok()?;
    let target = directive(ptx, ".target")?.split(',').next()?;
    Some((isa, Arch::parse(target.trim()).ok()?))
}

/// The same PTX, claiming another ISA. What one version of the ISA can say every later one can.
pub fn with_isa(ptx: &str, isa: &Version) -> Option<String> {
    let old = directive(ptx, ".version")?;
    let start = old.as_ptr() as usize - ptx.as_ptr() as usize;
    Some(format!("{}{isa}{}", &ptx[..start], &ptx[start + old.len()..]))
}

/// What stands behind the first line that begins with this directive.
fn directive<'a>(ptx: &'a str, name: &str) -> Option<&'a str> {
    let value = |line: &'a str| line.strip_prefix(name)?.strip_prefix([' ', '\t']);
    ptx.lines().find_map(value).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "// .version 1.0\n\n.version 7.7\n.target sm_35, debug\n.address_size 64\n";

    #[test]
    fn a_ptx_tells_its_isa_and_takes_another() {
        let (isa, target) = ptx_claims(PTX).unwrap();
        assert_eq!((isa.as_str(), target.code().as_str()), ("7.7", "35"));
        let raised = with_isa(PTX, &Version::parse("9.5").unwrap()).unwrap();
        assert_eq!(raised, PTX.replace("7.7", "9.5"));
        for broken in ["", ".version", ".version x\n.target sm_90", ".version 7.7\n.target", ".versions 7.7"] {
            assert_eq!(ptx_claims(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn only_a_cubin_has_a_number() {
        let mut cubin = vec![0; 64];
        cubin[..4].copy_from_slice(b"\x7fELF");
        cubin[18] = 190;
        (cubin[7], cubin[48], cubin[49]) = (0x33, 90, 5);
        assert_eq!(sm_number(&cubin), Some(90));
        (cubin[7], cubin[48], cubin[49]) = (0x41, 4, 121);
        assert_eq!(sm_number(&cubin), Some(121));
        assert_eq!(sm_number(&cubin[..51]), None);
        cubin[7] = 0;
        assert_eq!(sm_number(&cubin), None);
        (cubin[7], cubin[18]) = (0x33, 62);
        assert_eq!(sm_number(&cubin), None);
    }
}
