// y = (x - mean) / sqrt(variance + epsilon) * scale + bias for each row, one workgroup a row.
// Bindings: 0 params, 1 source (rows, length), 2 scale, 3 bias, 4 target, 5 means and 6 inverse
// deviations (rows). Grid: as many workgroups as there are rows.
struct Params {
  rows: u32,
  length: u32,
  scale_rows: u32,
  scale_stride: u32,
  scale_run: u32,
  scale_size: u32,
  epsilon: f32,
  unused: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ source }}>;
@group(0) @binding(2) var<storage, read> scale: array<{{ scale }}>;
@group(0) @binding(3) var<storage, read> bias: array<{{ bias }}>;
@group(0) @binding(4) var<storage, read_write> destination: array<{{ target }}>;
@group(0) @binding(5) var<storage, read_write> means: array<f32>;
@group(0) @binding(6) var<storage, read_write> inverse_deviations: array<f32>;

{% include 'lib/grid.wgsl' %}
{% include 'lib/math.wgsl' %}

const SIZE = {{ group_size }}u;

var<workgroup> partial: array<f32, SIZE>;

// The sum of every invocation's x.
fn sum_of_group(x: f32, local: u32) -> f32 {
  workgroupBarrier();
  partial[local] = x;
  workgroupBarrier();
  for (var half = SIZE / 2u; half > 0u; half /= 2u) {
    if (local < half) {
      partial[local] += partial[local + half];
    }
    workgroupBarrier();
  }
  return partial[0];
}

@compute @workgroup_size({{ group_size }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  // A group beyond the last repeats its row: barriers need every invocation.
  let row = min(linear_index(group, groups, 0u, 1u), params.rows - 1u);
  let start = row * params.length;

  var total = 0.0;
  for (var k = local; k < params.length; k += SIZE) {
    total += f32(source[start + k]);
  }
  let mean = {{ mean_weight }} * sum_of_group(total, local) / f32(params.length);

  var squares = 0.0;
  for (var k = local; k < params.length; k += SIZE) {
    let centred = f32(source[start + k]) - mean;
    squares += centred * centred;
  }
  let variance = sum_of_group(squares, local) / f32(params.length);
  let factor = divide(1.0, square_root(variance + params.epsilon));

  let scale_start = row % params.scale_rows * params.scale_stride;
  for (var k = local; k < params.length; k += SIZE) {
    let at = (scale_start + k / params.scale_run) % params.scale_size;
    let normal = (f32(source[start + k]) - mean) * factor;
    destination[start + k] = {{ target }}(normal * f32(scale[at]) + f32(bias[at]));
  }
  if (local == 0u) {
    means[row] = mean;
    inverse_deviations[row] = factor;
  }
}
