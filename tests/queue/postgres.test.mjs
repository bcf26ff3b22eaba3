// Queues on PostgreSQL.

import { postgres } from "./databases.mjs";
import { testFleet } from "./fleet.mjs";
import { testQueue } from "./suite.mjs";

testQueue("PostgreSQL", postgres);
testFleet("PostgreSQL", postgres);
