// Copies rows of ``width`` elements into rows of ``padded`` elements, zeros behind them; without a
// source it writes zeros alone. Moves states and recurrent weights of GRU and LSTM.
// Bindings: params; source (if there is one); target.
// Grid: linear over rows * padded. Each invocation owns target[offset + its index].
{% include 'lib/items.wgsl' %}

struct Params {
  count: u32,
  width: u32,
  padded: u32,
  offset: u32,  // first element of the target
  start: u32,  // first element of the source
}

@group(0) @binding(0) var<uniform> params: Params;
{% if source %}
@group(0) @binding(1) var<storage, read> source: array<{{ source }}>;
@group(0) @binding(2) var<storage, read_write> target_rows: array<{{ element }}>;
{% else %}
@group(0) @binding(1) var<storage, read_write> target_rows: array<{{ element }}>;
{% endif %}

fn run_item(index: u32) {
  var value = {{ element }}(0.0);
{% if source %}
  let column = index % params.padded;
  if (column < params.width) {
    value = {{ element }}(source[params.start + index / params.padded * params.width + column]);
  }
{% endif %}
  target_rows[params.offset + index] = value;
}
