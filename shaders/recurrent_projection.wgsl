// X * W^T + bias for all steps, batch rows and directions at once: (M, K) x (N, K)^T -> (M, N) f32,
// where M = steps * batch rows, K = input size, N = directions * gates * hidden.
// Bindings: params; x, weights, bias (if there is one: per direction Wb, then Rb); projected.
// Grid: x = tiles of 64 columns, y = tiles of 64 rows. An invocation owns 4 x 4 results.
{% set tile_k = 16 %}
struct Params {
  first_row: u32,  // this dispatch does the rows [first_row, end_row) ...
  end_row: u32,
  first_column: u32,  // ... of the columns [first_column, end_column)
  end_column: u32,
  columns: u32,  // N
  depth: u32,  // K
  gate_rows: u32,  // gates * hidden: columns of one direction
  biased_rows: u32,  // columns of a direction to which Rb is added too
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<{{ element }}>;
@group(0) @binding(2) var<storage, read> weights: array<{{ element }}>;
{% if bias %}
@group(0) @binding(3) var<storage, read> bias: array<{{ element }}>;
@group(0) @binding(4) var<storage, read_write> projected: array<f32>;
{% else %}
@group(0) @binding(3) var<storage, read_write> projected: array<f32>;
{% endif %}

// vec4s of four rows (columns) at one k; a row of 17 keeps the stores free of bank conflicts.
var<workgroup> tile_x: array<vec4<f32>, {{ tile_k * 17 }}>;
var<workgroup> tile_w: array<vec4<f32>, {{ tile_k * 17 }}>;

fn x_at(row: u32, k: u32) -> f32 {
  if (row < params.end_row && k < params.depth) {
    return f32(x[row * params.depth + k]);
  }
  return 0.0;
}

fn weight_at(column: u32, k: u32) -> f32 {
  if (column < params.end_column && k < params.depth) {
    return f32(weights[column * params.depth + k]);
  }
  return 0.0;
}

fn bias_of(column: u32) -> f32 {
{% if bias %}
  if (column < params.end_column) {
    let gate_row = column % params.gate_rows;
    let at = column / params.gate_rows * 2u * params.gate_rows + gate_row;
    let input_bias = f32(bias[at]);
    if (gate_row < params.biased_rows) {
      return input_bias + f32(bias[at + params.gate_rows]);
    }
    return input_bias;
  }
{% endif %}
  return 0.0;
}

fn store(row: u32, column: u32, values: vec4<f32>) {
  if (row >= params.end_row) {
    return;
  }
  let at = row * params.columns + column;
{% for j in range(4) %}
  if (column + {{ j }}u < params.end_column) {
    projected[at + {{ j }}u] = values[{{ j }}];
  }
{% endfor %}
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let low = local % 16u;
  let high = local / 16u;
  let row = params.first_row + group.y * 64u;
  let column = params.first_column + group.x * 64u;
{% for i in range(4) %}
  var sum{{ i }} = vec4<f32>();
{% endfor %}
  for (var k0 = 0u; k0 < params.depth; k0 += {{ tile_k }}u) {
    // Neighbours load neighbouring k; each builds the vec4 of four rows that it alone stores.
    let k = k0 + low;
    let r = row + high * 4u;
    let c = column + high * 4u;
    tile_x[low * 17u + high] =
      vec4<f32>(x_at(r, k), x_at(r + 1u, k), x_at(r + 2u, k), x_at(r + 3u, k));
    tile_w[low * 17u + high] =
      vec4<f32>(weight_at(c, k), weight_at(c + 1u, k), weight_at(c + 2u, k), weight_at(c + 3u, k));
    workgroupBarrier();
{% for k in range(tile_k) %}
    let a{{ k }} = tile_x[{{ k * 17 }}u + high];
    let b{{ k }} = tile_w[{{ k * 17 }}u + low];
{% for i in range(4) %}
    sum{{ i }} = fma(vec4<f32>(a{{ k }}[{{ i }}]), b{{ k }}, sum{{ i }});
{% endfor %}
{% endfor %}
    workgroupBarrier();
  }
  let c = column + low * 4u;
  let added = vec4<f32>(bias_of(c), bias_of(c + 1u), bias_of(c + 2u), bias_of(c + 3u));
{% for i in range(4) %}
  store(row + high * 4u + {{ i }}u, c, sum{{ i }} + added);
{% endfor %}
}
