//! The programs of `kernels.cu` with their data, and what they compute as this program computes it itself.

use std::iter::zip;

/// A program that is ready to be launched. Its arguments are the count, the factor if it has one, a pointer to each
/// input and one to the output.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its name in the source.
    pub name: &'static str,
    /// How many elements or rows there are: never a multiple of the block's size, so that its edge is tried too.
    pub count: u32,
    /// A factor.
    pub factor: Option<f32>,
    /// What it reads.
    pub inputs: Vec<Vec<f32>>,
    /// What stands in the output before.
    pub before: Vec<f32>,
    /// What has to stand in it after.
    pub after: Vec<f32>,
    /// Blocks, across and down.
    pub grid: (u32, u32),
    /// Threads of a block, across and down.
    pub block: (u32, u32),
}

/// The threads of a block where there is one row of them, as in the source.
const BLOCK: u32 = 128;
/// The rows and columns of a block of `matmul`, as in the source.
const TILE: u32 = 16;

/// All programs, the trivial one first.
pub fn all() -> [Program; 3] {
    [saxpy(1_000), reduce(10_000), matmul(100)]
}

fn saxpy(count: u32) -> Program {
    let (factor, x, y) = (3.0, numbers(count, 7), numbers(count, 11));
    let after = zip(&x, &y).map(|(x, y)| factor * x + y).collect();
    let grid = (count.div_ceil(BLOCK), 1);
    let (factor, block) = (Some(factor), (BLOCK, 1));
    Program { name: "saxpy", count, factor, inputs: vec![x], before: y, after, grid, block }
}

fn reduce(count: u32) -> Program {
    let x = numbers(count, 5);
    let after: Vec<f32> = x.chunks(BLOCK as usize).map(|part| part.iter().sum()).collect();
    let (before, grid) = (vec![f32::NAN; after.len()], (count.div_ceil(BLOCK), 1));
    Program { name: "reduce", count, factor: None, inputs: vec![x], before, after, grid, block: (BLOCK, 1) }
}

fn matmul(count: u32) -> Program {
    let (rows, size) = (count as usize, count * count);
    let (a, b) = (numbers(size, 3), numbers(size, 13));
    let product = |at: usize| (0..rows).map(|k| a[at / rows * rows + k] * b[k * rows + at % rows]).sum();
    let after: Vec<f32> = (0..size as usize).map(product).collect();
    let (before, tiles) = (vec![f32::NAN; after.len()], count.div_ceil(TILE));
    let (grid, block) = ((tiles, tiles), (TILE, TILE));
    Program { name: "matmul", count, factor: None, inputs: vec![a, b], before, after, grid, block }
}

/// Whole numbers from -8 to 8. A sum of ten thousand products of two of them is exact in fp32.
fn numbers(count: u32, seed: u32) -> Vec<f32> {
    (0..count).map(|at| ((at.wrapping_mul(seed) ^ at >> 3) % 17) as f32 - 8.0).collect()
}

impl Program {
    /// Where an output differs from what is right, bit by bit, in words. None: nowhere.
    pub fn difference(&self, output: &[f32]) -> Option<String> {
        let wrong = |(_, (is, right)): &(usize, (&f32, &f32))| is.to_bits() != right.to_bits();
        let (at, (is, right)) = zip(output, &self.after).enumerate().find(wrong)?;
        let count = zip(output, &self.after).enumerate().filter(wrong).count();
        let of = self.after.len();
        Some(format!("element {at} is {is} where the host computes {right}; {count} of {of} differ"))
    }
}

#[cfg(test)]
mod tests;
