// A matrix product by dot products: few results, or few columns; lib/product.wgsl says which.
// Bindings: 0 params; 1 a; 2 b; 3 d; 4 c, all read and written through strides.
// Grid: linear over results from params.first.x on, {{ columns }} a workgroup of 256; invocation l
// adds every (256 / {{ columns }})-th term of result l % {{ columns }}.
alias Element = {{ element }};

{% include 'lib/grid.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/activation.wgsl' %}
{% include 'lib/product.wgsl' %}

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
    let c_at = params.c_base + batch_offset(z, params.c_batch) + m * params.c_row
      + n * params.c_column;
    c[c_at] = result(partial[local], m, n);
  }
}
