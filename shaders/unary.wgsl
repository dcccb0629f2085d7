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

{% include 'lib/items.wgsl' %}
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

fn run_item(index: u32) {
  let x = {{ load }}(source[index]);
  destination[index] = {{ target }}({{ call }});
}
