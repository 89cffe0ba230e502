// A sweep along the horizon; each sweep_*.cpp includes this in a namespace of its own, with its own instructions.
// Nothing here may be shared between them: all is static, and no header with inline functions comes in.
//
// Before it WIDTH says how many numbers a vector has, and what fits into the vector registers: kTileVectors, of WIDTH rows
// (lanes are nodes), kTileRows and kTileColumns (lanes are problems).

// clang-format off
#include "mpc/sweep_vectors_body.h"
#include "mpc/sweep_pull_body.h"
#include "mpc/sweep_nodes_room_body.h"
#include "mpc/sweep_nodes_tiles_body.h"
#include "mpc/sweep_nodes_matrices_body.h"
#include "mpc/sweep_nodes_body.h"
#include "mpc/sweep_problems_room_body.h"
#include "mpc/sweep_problems_tiles_body.h"
#include "mpc/sweep_problems_node_body.h"
#include "mpc/sweep_problems_body.h"
// clang-format on

static const SweepVersions kSweeps = {sweep_of_nodes, sweep_of_problems};
