// Checks the API's description against the recommended rules of the library that also generates the TypeScript client.
//
//   node scripts/lint-openapi.mjs FILE
import { createRequire } from "node:module";
import { resolve } from "node:path";

const load = createRequire(resolve("client/typescript/package.json"));
const { createConfig, formatProblems, getTotals, lint } = load("@redocly/openapi-core");

const config = await createConfig({ extends: ["recommended"], rules: {
  "operation-4xx-response": "error",
  "operation-operationId": "error",
  "tag-description": "error",
} });
const problems = await lint({ ref: process.argv[2], config });
const totals = getTotals(problems);
if (problems.length) formatProblems(problems, { format: "codeframe", maxProblems: 50, totals, version: "" });
process.exitCode = totals.errors + totals.warnings > 0 ? 1 : 0;
