//! An agent's node of the mesh.
