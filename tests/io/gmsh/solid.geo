// Three blocks side by side: a hexahedron on a recombined square, wedges on a triangulated one, and tetrahedra under the wedges.
SetFactory("Built-in");
h = 1;
Point(1) = {0, 0, 0, h}; Point(2) = {1, 0, 0, h}; Point(3) = {1, 1, 0, h}; Point(4) = {0, 1, 0, h};
Point(5) = {2, 0, 0, h}; Point(6) = {2, 1, 0, h};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1}; Line(5) = {2, 5}; Line(6) = {5, 6}; Line(7) = {6, 3};
Transfinite Curve {1, 2, 3, 4, 5, 6, 7} = 2;
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1}; Transfinite Surface {1}; Recombine Surface {1};
Curve Loop(2) = {5, 6, 7, -2}; Plane Surface(2) = {2}; Transfinite Surface {2};
a[] = Extrude {0, 0, 1} { Surface{1}; Layers{1}; Recombine; };
b[] = Extrude {0, 0, 1} { Surface{2}; Layers{1}; Recombine; };
c[] = Extrude {0, 0, -1} { Surface{2}; Layers{1}; };
Physical Surface("bottom", 31) = {1};
Physical Volume("hexes", 41) = {a[1]};
Physical Volume("wedges", 42) = {b[1]};
Physical Volume("tets", 43) = {c[1]};
