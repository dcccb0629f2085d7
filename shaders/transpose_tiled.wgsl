// Transposes a batch of matrices through tiles in workgroup memory.
// Bindings: 0 params, 1 source (batch, rows, columns), 2 target (batch, columns, rows).
// Grid: one workgroup for each tile; an invocation takes one column of some of its rows.
alias Element = {{ element }};

struct Params {
  rows: u32,
  columns: u32,
  tiles_across: u32,
  tiles: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<Element>;
@group(0) @binding(2) var<storage, read_write> destination: array<Element>;

// One column more than a tile has: neighbours in a column then lie in different banks.
var<workgroup> tile: array<array<Element, {{ tile + 1 }}>, {{ tile }}>;

{% include 'lib/grid.wgsl' %}

@compute @workgroup_size({{ tile }}, {{ rows }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
) {
  let index = min(linear_index(group, groups, 0u, 1u), params.tiles - 1u);
  let tiles_down = (params.rows + {{ tile - 1 }}u) / {{ tile }}u;
  let across = index % params.tiles_across;
  let down = index / params.tiles_across % tiles_down;
  let start = index / (params.tiles_across * tiles_down) * params.rows * params.columns;

  let column = across * {{ tile }}u + local.x;
  for (var y = local.y; y < {{ tile }}u; y += {{ rows }}u) {
    let row = down * {{ tile }}u + y;
    if (row < params.rows && column < params.columns) {
      tile[y][local.x] = source[start + row * params.columns + column];
    }
  }
  workgroupBarrier();

  let target_column = down * {{ tile }}u + local.x;
  for (var y = local.y; y < {{ tile }}u; y += {{ rows }}u) {
    let target_row = across * {{ tile }}u + y;
    if (target_row < params.columns && target_column < params.rows) {
      destination[start + target_row * params.rows + target_column] = tile[local.x][y];
    }
  }
}
