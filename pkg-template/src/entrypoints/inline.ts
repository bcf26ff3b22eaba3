// Browsers, workers, and wherever nothing else is known: the module travels inside the JavaScript.
import { provideModule } from "../engine/instance.js";
import { inlineModule } from "./inline-module.js";

provideModule(inlineModule);

export * from "../index.js";
