{% include 'lib/grid.wgsl' %}

// The entry point of a kernel whose invocations own an item each: it calls the kernel's own
// run_item(index) for every index below params.count. Grid: StepBuilder.grid(count).
@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = linear_index(group, groups, local, 256u);
  if (index < params.count) {
    run_item(index);
  }
}
