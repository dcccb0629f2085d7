// Copies elements between two strided views.
// Bindings: 0 params, 1 source, 2 target. Grid: one invocation for each element of the walk,
// which reads that element from the source and is the only one to write it to the target.
alias Element = {{ element }};

struct Axis {
  extent: u32,
  source_stride: i32,
  target_stride: i32,
  unused: u32,
}

struct Params {
  count: u32,
  source_base: i32,
  target_base: i32,
  unused: u32,
  axes: array<Axis, {{ rank }}>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<Element>;
@group(0) @binding(2) var<storage, read_write> destination: array<Element>;

{% include 'lib/grid.wgsl' %}

@compute @workgroup_size({{ group_size }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  var rest = linear_index(group, groups, local, {{ group_size }}u);
  if (rest >= params.count) {
    return;
  }
  var read_at = params.source_base;
  var write_at = params.target_base;
  for (var axis = {{ rank }}u - 1u; axis > 0u; axis--) {
    let a = params.axes[axis];
    let coordinate = i32(rest % a.extent);
    rest /= a.extent;
    read_at += coordinate * a.source_stride;
    write_at += coordinate * a.target_stride;
  }
  read_at += i32(rest) * params.axes[0].source_stride;
  write_at += i32(rest) * params.axes[0].target_stride;
  destination[write_at] = source[read_at];
}
