// The linear index of an invocation in a one- or two-dimensional grid of workgroups.
// A dispatch of more than 65,535 groups is folded into y: see StepBuilder.grid.
fn linear_index(group: vec3<u32>, groups: vec3<u32>, local: u32, group_size: u32) -> u32 {
  return (group.y * groups.x + group.x) * group_size + local;
}
