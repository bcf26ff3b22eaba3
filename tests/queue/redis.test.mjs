// Queues on Redis.

import { redis } from "./databases.mjs";
import { testFleet } from "./fleet.mjs";
import { testQueue } from "./suite.mjs";

testQueue("Redis", redis);
testFleet("Redis", redis);
