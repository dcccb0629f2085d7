// What the matrix products share: sizes and strides in elements, and up to four batch axes.
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

fn batch_offset(index: u32, strides: vec4<u32>) -> u32 {
  let w = index % params.batch.w;
  let z = index / params.batch.w % params.batch.z;
  let yx = index / params.batch.w / params.batch.z;
  return dot(vec4<u32>(yx / params.batch.y, yx % params.batch.y, z, w), strides);
}
