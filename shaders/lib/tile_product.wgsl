// A fragment of a tiled kernel's body: adds the product of both slices to the invocation's sums.
// tile_a holds bk rows of bm / 4 + 1 vectors (columns of the left operand), tile_b bk rows of
// bn / 4. Unrolled into named variables: sums c<row>_<column vector>, see lib/tile_sums.wgsl.
{% set ty = bm // tm %}
{% set tx = bn // tn %}
{% for k in range(bk) %}
  {
{% for q in range(tm // 4) %}
    let a{{ q }} = tile_a[{{ k * (bm // 4 + 1) + q * ty }}u + ly];
{% endfor %}
{% for j in range(tn // 4) %}
    let b{{ j }} = tile_b[{{ k * (bn // 4) + j * tx }}u + lx];
{% endfor %}
{% for i in range(tm) %}
{% for j in range(tn // 4) %}
    c{{ i }}_{{ j }} = fma(vec4<f32>(a{{ i // 4 }}.{{ "xyzw"[i % 4] }}), b{{ j }}, c{{ i }}_{{ j }});
{% endfor %}
{% endfor %}
  }
{% endfor %}
