// target[b, t, i] = data[b, indices[b, t, 0], .., indices[b, t, depth - 1], i].
// Bindings: 0 params, 1 data, 2 indices (batch, tuples, depth), 3 target (batch, tuples, inner).
// Grid: one invocation for each element of the target.
struct Axis {
  extent: u32,
  stride: u32,
  unused_0: u32,
  unused_1: u32,
}

struct Params {
  count: u32,
  inner: u32,
  tuples: u32,
  batch_stride: u32,
  axes: array<Axis, {{ depth }}>,
}

{% include 'lib/gather.wgsl' %}

fn run_item(at: u32) {
  let row = at / params.inner;
  var offset = row / params.tuples * params.batch_stride + at % params.inner;
  for (var k = 0u; k < {{ depth }}u; k++) {
    let i = indices[row * {{ depth }}u + k];
    offset += resolve_index({{ index_load }}, params.axes[k].extent) * params.axes[k].stride;
  }
  destination[at] = data[offset];
}
