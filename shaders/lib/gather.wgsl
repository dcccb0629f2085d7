// What the gathering kernels bind, and the resolving of their indices.
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> data: array<{{ element }}>;
@group(0) @binding(2) var<storage, read> indices: array<{{ index }}>;
@group(0) @binding(3) var<storage, read_write> destination: array<{{ element }}>;

{% include 'lib/items.wgsl' %}
{% include 'lib/index.wgsl' %}
