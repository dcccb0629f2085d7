// target[b, t, i] = data[b, indices[b, t, 0], .., indices[b, t, depth - 1], i].
// Bindings: 0 params, 1 data, 2 indices (batch, tuples, depth), 3 target (batch, tuples, inner).
// Grid: one invocation for each element of the target.
struct Params {
  count: u32,
  inner: u32,
  tuples: u32,
  batch_stride: u32,
  first_word: u32,
  axes: array<vec4<u32>, {{ depth }}>,  // extent, stride
}

{% include 'lib/gather.wgsl' %}
{% include 'lib/tuple.wgsl' %}

fn run_item(at: u32) {
  let row = at / params.inner;
  let batch = row / params.tuples * params.batch_stride;
  destination[at] = data[batch + slice_of(row) + at % params.inner];
}
