// target[o, j, i] = sum over t of weights[j, t] * source[o, indices[j, t], i], plus a constant
// for j that lies outside, which is the last column of the weights.
// Bindings: 0 params, 1 source (outer, extent, inner), 2 indices (size, taps),
// 3 weights (size, taps + 1), 4 target (outer, size, inner). Grid: one invocation for each element.
struct Params {
  count: u32,
  extent: u32,
  inner: u32,
  size: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ source }}>;
@group(0) @binding(2) var<storage, read> indices: array<i32>;
@group(0) @binding(3) var<storage, read> weights: array<f32>;
@group(0) @binding(4) var<storage, read_write> destination: array<{{ target }}>;

{% include 'lib/items.wgsl' %}

const TAPS = {{ taps }}u;

fn run_item(at: u32) {
  let row = at / params.inner;
  let j = row % params.size;
  let start = row / params.size * params.extent * params.inner + at % params.inner;
  var total = weights[j * (TAPS + 1u) + TAPS];
  for (var t = 0u; t < TAPS; t++) {
    let weight = weights[j * (TAPS + 1u) + t];
    // A weight of zero takes nothing, not even a NaN.
    if (weight != 0.0) {
      total += weight * f32(source[start + u32(indices[j * TAPS + t]) * params.inner]);
    }
  }
  destination[at] = {{ target }}(total);
}
