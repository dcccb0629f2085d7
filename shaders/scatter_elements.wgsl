// target[.., indices[.., j, ..], ..] takes updates[.., j, ..] along one axis, replaced or merged.
// Bindings: 0 params, 1 indices, 2 updates, 3 target, a copy of the data already.
// Grid: one invocation for each update; with a reduction for each line along the axis, which it
// goes through in order, so that no two invocations share an element.
struct Params {
  count: u32,
  turn_stride: u32,
  extent: u32,
  stride: u32,
  first_turn: u32,
  end_turn: u32,
  first_word: u32,
  axes: array<vec4<u32>, {{ rank }}>,  // extent of the walk, strides of target and updates
}

{% include 'lib/scatter.wgsl' %}
{% set operands = 2 %}
{% include 'lib/walk.wgsl' %}

fn run_item(index: u32) {
  let start = offsets_of(index);
  for (var turn = params.first_turn; turn < params.end_turn; turn++) {
    let at = start.y + turn * params.turn_stride;
    let i = indices[at];
    let picked = resolve_index({{ index_load }}, params.extent, params.first_word);
    let offset = start.x + picked * params.stride;
    let merged = merge(Value(destination[offset]), Value(updates[at]));
    destination[offset] = {{ element }}(merged);
  }
}
