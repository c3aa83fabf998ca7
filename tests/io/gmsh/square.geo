// Two squares side by side, one of quadrilaterals and one of triangles.
SetFactory("Built-in");
h = 0.9;
Point(1) = {0, 0, 0, h}; Point(2) = {1, 0, 0, h}; Point(3) = {2, 0, 0, h};
Point(4) = {2, 1, 0, h}; Point(5) = {1, 1, 0, h}; Point(6) = {0, 1, 0, h};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 5}; Line(5) = {5, 6}; Line(6) = {6, 1}; Line(7) = {2, 5};
Curve Loop(1) = {1, 7, 5, 6}; Plane Surface(1) = {1};
Curve Loop(2) = {2, 3, 4, -7}; Plane Surface(2) = {2};
Transfinite Surface {1}; Recombine Surface {1};
Physical Curve("wall", 11) = {1, 2, 4, 5}; Physical Curve("inlet", 12) = {6}; Physical Curve("outlet", 13) = {3};
Physical Surface("fluid", 21) = {1}; Physical Surface("more", 22) = {2};
