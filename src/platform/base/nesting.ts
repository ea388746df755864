/** How deep a body and a manifest may be nested (decisions Q-ERR-07), in JSON and in YAML alike. */
export const DEPTH_MAX = 64;
