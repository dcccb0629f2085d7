// Keeps a triangle of each matrix.
// Bindings: 0 params, 1 source, 2 target (batch, rows, columns). Grid: one invocation each.
struct Params {
  count: u32,
  rows: u32,
  columns: u32,
  k: i32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ element }}>;
@group(0) @binding(2) var<storage, read_write> destination: array<{{ element }}>;

{% include 'lib/items.wgsl' %}

fn run_item(at: u32) {
  let column = i32(at % params.columns);
  let row = i32(at / params.columns % params.rows);
  var value = {{ element }}();
  if ({{ keeps }}) {
    value = source[at];
  }
  destination[at] = value;
}
