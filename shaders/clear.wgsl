// Sets words to zero. Bindings: x. Grid: one invocation per word.
struct Params {
  size: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> x: array<u32>;

{% include 'lib/grid.wgsl' %}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linear_index(group, groups, local, 256u);
  if (i < params.size) {
    x[i] = 0u;
  }
}
