// Who may import whom. The array reads like the architecture document; `npm run check` and the architecture test enforce it.

const features = "^server/features/([^/]+)/";
/** Files of features, in the folder of the feature or below: `routes`, `acme/routes`, `dashboard-routes`. */
const files = (names) => `^server/features/.+[/-](${names})\\.ts$`;
/** Where one feature may enter another. `service.ts` stands in the feature's own folder, as its one door. */
const contracts = files("contract|jobs");
const doors = [contracts, "^server/features/[^/]+/service\\.ts$"];
const isomorphic =
  "^(locales/(message|problem-words|translate)\\.ts|server/local-contract\\.ts|server/features/.+[/-](contract|state|jobs)\\.ts|server/kernel/(endpoint|problem|canonical|record|wire|jobs|tx|text-patterns)\\.ts|server/features/evidence/(anchors/(merkle|anchor|checkpoint|checkpoint-check)|verify|certificate-check|bundle/(check|contents|read|unproven|zip)|seal-steps|words)\\.ts|server/features/keys/(kinds|record-schema)\\.ts|server/features/webhooks/examples\\.ts|server/features/templates/(fields|variables|values|texts|format|formula|document-content|pattern|publish-checks|text-fit)\\.ts)";
const typeOnly = ["type-only"];

/**
 * The features from the bottom up, each with those whose `service.ts` it may use. Nobody imports anything of a feature that comes
 * later, not even its contract, so that there is no cycle.
 */
export const edges = {
  operators: [],
  identity: [],
  templates: [],
  keys: ["operators"],
  health: ["keys"],
  mail: ["identity", "operators"],
  envelopes: ["identity", "templates", "mail"],
  "sign-in": ["operators", "identity", "mail"],
  organization: ["operators", "identity", "mail", "envelopes", "sign-in"],
  retention: ["identity", "envelopes"],
  signing: ["identity", "templates", "mail", "envelopes"],
  viewers: ["identity", "mail", "envelopes"],
  webhooks: ["identity", "mail", "envelopes"],
  evidence: ["operators", "identity", "keys", "health", "mail", "envelopes", "retention", "signing"],
  tls: ["operators", "keys", "health"],
  backup: ["operators", "health", "evidence"],
  update: ["operators", "keys", "evidence"],
  appliance: [
    "operators",
    "identity",
    "keys",
    "health",
    "envelopes",
    "sign-in",
    "organization",
    "evidence",
    "tls",
    "backup",
  ],
  mcp: [],
};

/** @type {import("dependency-cruiser").IForbiddenRuleType[]} */
const forbidden = [
  {
    name: "1 isomorphic files run anywhere",
    comment: "No node:, Koa, sqlite3 or React in what browsers load too.",
    severity: "error",
    from: { path: isomorphic },
    to: {
      pathNot: [isomorphic, "node_modules/(zod|@noble|intl-messageformat|@formatjs)/"],
      dependencyTypesNot: typeOnly,
    },
  },
  {
    name: "2a the kernel imports no feature",
    severity: "error",
    from: { path: "^server/kernel/" },
    to: {
      path: ["^server/features/", "^server/commands/", "^server/(compose|apps|features?|cli|main|pages|contract)\\.ts"],
    },
  },
  {
    name: "2b only feature.ts imports routes and handlers, those of its own folder",
    severity: "error",
    from: { path: "^server/", pathNot: files("feature|routes|handlers") },
    to: { path: files("routes|handlers") },
  },
  {
    name: "2b only features.ts imports each feature.ts",
    severity: "error",
    from: { path: "^server/", pathNot: "^server/features\\.ts$" },
    to: { path: "^server/features/[^/]+/feature\\.ts$" },
  },
  {
    name: "2c store, state and present stand below the service of their feature",
    severity: "error",
    from: { path: "^server/features/([^/]+)/.*(store|state|present)\\.ts$", pathNot: "/restore\\.ts$" },
    to: { path: "^server/features/$1/service\\.ts$" },
  },
  {
    name: "2d contracts and jobs stand at the bottom",
    severity: "error",
    from: { path: contracts },
    to: { path: files("store|present|service") },
  },
  {
    name: "3a across features only contracts, jobs and service.ts",
    severity: "error",
    from: { path: features },
    to: { path: "^server/features/", pathNot: ["^server/features/$1/", ...doors] },
  },
  ...Object.entries(edges).map(([feature, others]) => ({
    name: `3b ${feature} uses the services of ${others.length > 0 ? others.join(", ") : "no other feature"}`,
    severity: "error",
    from: { path: `^server/features/${feature}/` },
    to: {
      path: "^server/features/[^/]+/service\\.ts$",
      pathNot: `^server/features/(${[feature, ...others].join("|")})/`,
    },
  })),
  ...Object.keys(edges).map((feature, index, all) => ({
    name: `3c ${feature} imports nothing of a feature above it`,
    severity: "error",
    from: { path: `^server/features/${feature}/` },
    to: { path: "^server/features/", pathNot: `^server/features/(${all.slice(0, index + 1).join("|")})/` },
  })),
  {
    name: "4a workers import only themselves and libraries",
    severity: "error",
    from: { path: "^workers/" },
    to: { path: "^(server|apps|test|scripts)/" },
  },
  {
    name: "4b only pool.ts, and the validation in browsers, know worker files",
    severity: "error",
    from: { path: "^(server|apps)/", pathNot: "^(server/kernel/pool\\.ts$|apps/shared/validation/)" },
    to: { path: "^workers/", dependencyTypesNot: typeOnly },
  },
  {
    name: "4c threads that sign load nothing that reads uploads or pictures, or typesets",
    severity: "error",
    from: { path: "^workers/sealing-tasks\\.ts$" },
    to: {
      path: "^workers/(parsing-tasks|inspect|repair|read-picture|stamp|typeset|pdf/(picture|png|jpeg)|seal/trial)\\.ts$",
      reachable: true,
    },
  },
  {
    name: "4d threads that read uploads have no way to ask for a signature",
    severity: "error",
    from: { path: "^workers/parsing-tasks\\.ts$" },
    to: { path: "^workers/(sealing-tasks|asking)\\.ts$", reachable: true },
  },
  {
    name: "5 apps take only isomorphic files from the server, the console's main process also its client",
    severity: "error",
    from: { path: "^apps/", pathNot: "^apps/console/src/main/" },
    to: { path: "^server/", pathNot: isomorphic, dependencyTypesNot: typeOnly },
  },
  {
    name: "5 the console's main process takes isomorphic files and the client of the admin socket",
    severity: "error",
    from: { path: "^apps/console/src/main/" },
    to: { path: "^server/", pathNot: [isomorphic, "^server/local-client\\.ts$"], dependencyTypesNot: typeOnly },
  },
  {
    name: "5 the SDK imports nothing but itself: it runs where nothing else is installed",
    severity: "error",
    from: { path: "^apps/sdk/" },
    to: { pathNot: "^apps/sdk/" },
  },
  ...[
    ["sqlite3", "server/kernel/(db|kysely-sqlite)\\.ts"],
    ["nodemailer", "server/features/mail/transport\\.ts"],
    ["piscina", "(server/kernel/pool|workers/parsing-tasks)\\.ts"],
    ["undici", "server/kernel/outbound\\.ts"],
    ["pkcs11js", "server/features/keys/pkcs11/(pkcs11|library)\\.ts"],
    ["koa", "server/apps\\.ts"],
    ["@modelcontextprotocol/server", "server/features/mcp/(server|stdio)\\.ts"],
    ["@koa/router", "server/kernel/routing\\.ts"],
  ].map(([library, only]) => ({
    name: `6 ${library} only in ${only.replaceAll("\\", "")}`,
    severity: "error",
    from: { path: "^(server|workers|apps)/", pathNot: `^${only}$` },
    to: { path: `^(node_modules/)?${library}(/|$)`, dependencyTypesNot: typeOnly },
  })),
  {
    name: "6 sockets only through outbound.ts, SMTP and the server itself",
    severity: "error",
    from: {
      path: "^(server|workers)/",
      pathNot:
        "^server/((challenge-)?front\\.ts|loopback\\.ts|local-client\\.ts|kernel/(outbound|failures|gates)\\.ts|features/mail/transport\\.ts|features/tls/(check|keeper)\\.ts)$",
    },
    to: { path: "^(node:)?(net|tls|http|https|http2|dgram)$", dependencyTypes: ["core"], dependencyTypesNot: typeOnly },
  },
  {
    name: "7 the console's renderer never imports electron",
    severity: "error",
    from: { path: "^apps/console/src/renderer/" },
    to: { path: "(^|/)electron(/|$)" },
  },
  {
    name: "8a no cycles",
    severity: "error",
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: typeOnly } },
  },
  {
    name: "8b no production import of test/",
    severity: "error",
    from: { path: "^(server|workers|apps|installer|locales)/" },
    to: { path: "^test/" },
  },
  {
    name: "9a the language system stands on libraries alone",
    severity: "error",
    from: { path: "^locales/" },
    to: { path: "^(server|workers|apps|test|scripts)/" },
  },
  {
    name: "9b pages and workers read no catalogue from the disk",
    severity: "error",
    from: { path: "^(apps|workers)/" },
    to: { path: "^locales/read\\.ts$" },
  },
];

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden,
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: "specify",
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
    },
  },
};
