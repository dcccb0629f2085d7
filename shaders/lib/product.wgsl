// What the matrix products share: c[z, m, n] = activation(alpha * sum over k of a[z, m, k] *
// b[z, k, n] + beta * d[m, n]). Sizes and strides in elements, up to four batch axes in z.
// Needs lib/activation.wgsl and ``alias Element``.
struct Params {
  first: vec4<u32>,    // tiled: first column tile, row tile, batch. Else x: first result, y: count
  batch: vec4<u32>,    // extents of the batch axes
  a_batch: vec4<u32>,  // their strides in a, b and c; 0 where an operand is broadcast
  b_batch: vec4<u32>,
  c_batch: vec4<u32>,
  rows: u32,
  columns: u32,
  depth: u32,
  a_row: u32,
  a_depth: u32,
  b_depth: u32,
  b_column: u32,
  c_row: u32,
  c_column: u32,
  d_row: u32,
  d_column: u32,
  a_base: u32,
  b_base: u32,
  c_base: u32,
  alpha: f32,
  beta: f32,
  act_alpha: f32,
  act_beta: f32,
  unused0: u32,
  unused1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<Element>;
@group(0) @binding(2) var<storage, read> b: array<Element>;
@group(0) @binding(3) var<storage, read> d: array<Element>;
@group(0) @binding(4) var<storage, read_write> c: array<Element>;

fn batch_offset(index: u32, strides: vec4<u32>) -> u32 {
  let w = index % params.batch.w;
  let z = index / params.batch.w % params.batch.z;
  let yx = index / params.batch.w / params.batch.z;
  return dot(vec4<u32>(yx / params.batch.y, yx % params.batch.y, z, w), strides);
}

// What is stored in row m and column n of c for a sum over k.
fn result(sum: f32, row: u32, column: u32) -> Element {
  let added = params.beta * f32(d[row * params.d_row + column * params.d_column]);
  let total = params.alpha * sum + added;
  return Element(activate_{{ activation }}(total, params.act_alpha, params.act_beta));
}
