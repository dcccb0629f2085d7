// What the scattering kernels bind, and the merging of an update with the element it meets.
alias Value = {{ value }};

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> indices: array<{{ index }}>;
@group(0) @binding(2) var<storage, read> updates: array<{{ element }}>;
@group(0) @binding(3) var<storage, read_write> destination: array<{{ element }}>;

{% include 'lib/items.wgsl' %}
{% include 'lib/index.wgsl' %}
{% include 'lib/math.wgsl' %}

fn merge(x: Value, y: Value) -> Value {
  return {{ merge }};
}
