// Agents as modules export them, for the command line.

import adkTs from "@iqai/adk";
import { LIBRARIES, weatherAgent } from "./libraries.mjs";

const [iqai, google] = LIBRARIES;

export const iqaiAgent = weatherAgent(iqai);
export const googleAgent = weatherAgent(google);
export const iqaiRunner = iqai.runner(weatherAgent(iqai));
export const googleRunner = google.runner(weatherAgent(google));
export const iqaiFactory = () => weatherAgent(iqai);
export const googleFactory = async () => weatherAgent(google);
const builder = () => adkTs.AgentBuilder.create("weather_agent").withAgent(weatherAgent(iqai));
export const iqaiBuilder = builder();
export const iqaiBuilt = () => builder().build();

export default googleAgent;
