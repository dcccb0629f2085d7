// c[z, m, n] = activation(alpha * sum over k of a[z, m, k] * b[z, k, n] + beta * d[m, n])
// Bindings: 0 params; 1 a; 2 b; 3 d; 4 c, all read and written through strides.
// Grid: linear over results from params.first.x on, {{ columns }} a workgroup of 256; invocation l
// adds every (256 / {{ columns }})-th term of result l % {{ columns }}.
alias Element = {{ element }};

{% include 'lib/grid.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/activation.wgsl' %}
{% include 'lib/product.wgsl' %}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<Element>;
@group(0) @binding(2) var<storage, read> b: array<Element>;
@group(0) @binding(3) var<storage, read> d: array<Element>;
@group(0) @binding(4) var<storage, read_write> c: array<Element>;

var<workgroup> partial: array<f32, 256>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let item = linear_index(group, groups, 0u, 1u) * {{ columns }}u + local % {{ columns }}u;
  let wanted = item < params.first.y;
  let at = params.first.x + select(0u, item, wanted);
  let n = at % params.columns;
  let m = at / params.columns % params.rows;
  let z = at / params.columns / params.rows;
  let first = local / {{ columns }}u;
  var a_at = params.a_base + batch_offset(z, params.a_batch) + m * params.a_row
    + first * params.a_depth;
  var b_at = params.b_base + batch_offset(z, params.b_batch) + n * params.b_column
    + first * params.b_depth;
  var sum = 0.0;
  for (var k = first; k < params.depth; k += {{ 256 // columns }}u) {
    sum = fma(f32(a[a_at]), f32(b[b_at]), sum);
    a_at += {{ 256 // columns }}u * params.a_depth;
    b_at += {{ 256 // columns }}u * params.b_depth;
  }
  partial[local] = sum;
  workgroupBarrier();
  for (var half = 128u; half >= {{ columns }}u; half >>= 1u) {
    if (local < half) {
      partial[local] += partial[local + half];
    }
    workgroupBarrier();
  }
  if (local < {{ columns }}u && wanted) {
    let added = params.beta * f32(d[m * params.d_row + n * params.d_column]);
    let total = params.alpha * partial[local] + added;
    let c_at = params.c_base + batch_offset(z, params.c_batch) + m * params.c_row
      + n * params.c_column;
    c[c_at] = Element(activate_{{ activation }}(total, params.act_alpha, params.act_beta));
  }
}
