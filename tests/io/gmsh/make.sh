#!/bin/sh
# Makes the .msh files of this folder again, with Gmsh (Debian: gmsh); they are kept, so that the tests need no Gmsh. Those that are
# there were made by Gmsh 4.8.4 of Debian 12. It neither writes nor reads version 4.0 in binary.
set -eu
cd "$(dirname "$0")"
for format in 22 40 41; do
  gmsh -v 1 -2 square.geo -format msh$format -o square_${format}_text.msh
  gmsh -v 1 -2 square.geo -part 2 -format msh$format -o parted_${format}_text.msh
  gmsh -v 1 -3 solid.geo -format msh$format -o solid_${format}_text.msh
done
for format in 22 41; do
  gmsh -v 1 -bin -2 square.geo -format msh$format -o square_${format}_binary.msh
  gmsh -v 1 -bin -2 square.geo -part 2 -format msh$format -o parted_${format}_binary.msh
  gmsh -v 1 -bin -3 solid.geo -format msh$format -o solid_${format}_binary.msh
done
