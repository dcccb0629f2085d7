// Applies a function to each element.
// Bindings: 0 params, 1 source, 2 target, both dense and of one shape.
// Grid: one invocation for each element, or for each four of them, which it reads and writes.
alias Value = {{ value }};
alias Result = {{ result }};

struct Params {
  count: u32,
  alpha: f32,
  beta: f32,
  unused: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ source }}>;
@group(0) @binding(2) var<storage, read_write> destination: array<{{ target }}>;

{% include 'lib/grid.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/int64.wgsl' %}
{% include 'lib/elementary.wgsl' %}
{% include 'lib/trigonometry.wgsl' %}
{% include 'lib/activation.wgsl' %}

fn apply(x: Value) -> Result {
  let alpha = params.alpha;
  let beta = params.beta;
  return {{ expression }};
}

@compute @workgroup_size({{ group_size }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = linear_index(group, groups, local, {{ group_size }}u);
  if (index >= params.count) {
    return;
  }
  let x = {{ load }}(source[index]);
  destination[index] = {{ target }}({{ call }});
}
