// A fragment of a tiled kernel's body: the invocation's place in the tile and its sums.
// Invocation (lx, ly) owns rows (ly + q * bm / tm) * 4 + 0..3 and likewise columns from lx.
  let lx = local % {{ bn // tn }}u;
  let ly = local / {{ bn // tn }}u;
{% for i in range(tm) %}
{% for j in range(tn // 4) %}
  var c{{ i }}_{{ j }} = vec4<f32>(0.0);
{% endfor %}
{% endfor %}
