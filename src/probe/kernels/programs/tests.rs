//! Tests of `probe::kernels::programs`.

use super::*;

/// Every value on the way is far below 2^24, so that fp32 holds it exactly in whatever order it is computed.
#[test]
fn every_result_is_exact_in_any_order() {
    for program in all() {
        let largest = |values: &[f32]| values.iter().fold(0.0, |most: f32, value| most.max(value.abs()));
        let inputs: f32 = program.inputs.iter().map(|values| largest(values)).product();
        let most = program.factor.unwrap_or(1.0) * inputs * program.count as f32 + 8.0;
        assert!(most < (1 << 24) as f32, "{}: {most}", program.name);
        assert!(program.after.iter().all(|value| value.fract() == 0.0), "{}", program.name);
        assert_eq!(program.before.len(), program.after.len());
        let kinds: std::collections::BTreeSet<u32> = program.after.iter().map(|value| value.to_bits()).collect();
        assert!(kinds.len() > 20, "{}: results that a stuck GPU could guess", program.name);
    }
}

#[test]
fn known_results() {
    let [saxpy, reduce, matmul] = all();
    let (x, y) = (saxpy.inputs[0][999], saxpy.before[999]);
    assert_eq!(saxpy.after[999], 3.0 * x + y);
    assert_eq!((reduce.after.len(), reduce.grid), (79, (79, 1)));
    assert_eq!(reduce.after[78], reduce.inputs[0][9_984..].iter().sum::<f32>());
    let dot: f32 = (0..100).map(|k| matmul.inputs[0][200 + k] * matmul.inputs[1][k * 100 + 5]).sum();
    assert_eq!((matmul.after[205], matmul.grid), (dot, (7, 7)));
}

#[test]
fn a_difference_is_told_where_it_is() {
    let [saxpy, ..] = all();
    assert_eq!(saxpy.difference(&saxpy.after), None);
    let mut output = saxpy.after.clone();
    output[17] += 1.0;
    output[18] = f32::NAN;
    let said = saxpy.difference(&output).unwrap();
    assert!(said.starts_with("element 17 is ") && said.ends_with("2 of 1000 differ"), "{said}");
}
