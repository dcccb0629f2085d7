// target[indices[t, 0], .., indices[t, depth - 1], i] takes updates[t, i], replaced or merged.
// Bindings: 0 params, 1 indices (tuples, depth), 2 updates (tuples, inner), 3 target, a copy of
// the data already. Grid: one invocation for each update; with a reduction for each i alone,
// which goes through all tuples in order, so that no two invocations share an element.
struct Axis {
  extent: u32,
  stride: u32,
  unused_0: u32,
  unused_1: u32,
}

struct Params {
  count: u32,
  inner: u32,
  first_turn: u32,
  end_turn: u32,
  axes: array<Axis, {{ depth }}>,
}

{% include 'lib/scatter.wgsl' %}

fn run_item(first: u32) {
  for (var turn = params.first_turn; turn < params.end_turn; turn++) {
    let at = first + turn * params.inner;
    let row = at / params.inner;
    var offset = at % params.inner;
    for (var k = 0u; k < {{ depth }}u; k++) {
      let i = indices[row * {{ depth }}u + k];
      offset += resolve_index({{ index_load }}, params.axes[k].extent) * params.axes[k].stride;
    }
    let merged = merge(Value(destination[offset]), Value(updates[at]));
    destination[offset] = {{ element }}(merged);
  }
}
