// target[indices[t, 0], .., indices[t, depth - 1], i] takes updates[t, i], replaced or merged.
// Bindings: 0 params, 1 indices (tuples, depth), 2 updates (tuples, inner), 3 target, a copy of
// the data already. Grid: one invocation for each update; with a reduction for each i alone,
// which goes through all tuples in order, so that no two invocations share an element.
struct Params {
  count: u32,
  inner: u32,
  first_turn: u32,
  end_turn: u32,
  first_word: u32,
  axes: array<vec4<u32>, {{ depth }}>,  // extent, stride
}

{% include 'lib/scatter.wgsl' %}
{% include 'lib/tuple.wgsl' %}

fn run_item(first: u32) {
  for (var turn = params.first_turn; turn < params.end_turn; turn++) {
    let at = first + turn * params.inner;
    let offset = slice_of(at / params.inner) + at % params.inner;
    let merged = merge(Value(destination[offset]), Value(updates[at]));
    destination[offset] = {{ element }}(merged);
  }
}
