import { render } from "preact";
import { App } from "./app.js";
import "./offline.js";
import "./state/compare.js";
import "./state/dropped.js";
import "./state/followed.js";
import "./state/link.js";
import "./styles/tokens.css";
import "./styles/base.css";

const place = document.getElementById("app");
if (place !== null) render(<App />, place);
