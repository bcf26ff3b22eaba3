// The engine comes with Node's entry, which this one shares with it.
import "./node.js";

export * from "../queue/index.js";
