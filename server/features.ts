import type { Feature, Observers } from "./feature.ts";
import { feature as appliance } from "./features/appliance/feature.ts";
import { feature as backup } from "./features/backup/feature.ts";
import { feature as envelopes } from "./features/envelopes/feature.ts";
import { feature as evidence } from "./features/evidence/feature.ts";
import { feature as health } from "./features/health/feature.ts";
import { feature as identity } from "./features/identity/feature.ts";
import { feature as keys } from "./features/keys/feature.ts";
import { feature as mail } from "./features/mail/feature.ts";
import { feature as mcp } from "./features/mcp/feature.ts";
import { feature as operators } from "./features/operators/feature.ts";
import { feature as organization } from "./features/organization/feature.ts";
import { feature as retention } from "./features/retention/feature.ts";
import { feature as signIn } from "./features/sign-in/feature.ts";
import { feature as signing } from "./features/signing/feature.ts";
import { feature as templates } from "./features/templates/feature.ts";
import { feature as tls } from "./features/tls/feature.ts";
import { feature as update } from "./features/update/feature.ts";
import { feature as viewers } from "./features/viewers/feature.ts";
import { feature as webhooks } from "./features/webhooks/feature.ts";
import { purgeIdempotency } from "./kernel/idempotency.ts";
import { forgetReplies } from "./kernel/idempotency-jobs.ts";
import { handle } from "./kernel/job-handler.ts";
import { hourMs } from "./kernel/schedules.ts";

/** What the kernel itself looks after. */
const kernel: Feature = {
  jobs: ({ deps }) => [handle(forgetReplies, async () => async (tx) => void (await purgeIdempotency(tx, deps)))],
  schedules: [{ job: forgetReplies, everyMs: hourMs }],
};

/** All that the server can do. Their operations are listed in `contract.ts` and `local-contract.ts`, which browsers load too. */
export const features: readonly Feature[] = [
  kernel,
  templates,
  envelopes,
  signing,
  viewers,
  webhooks,
  organization,
  retention,
  evidence,
  keys,
  identity,
  signIn,
  mail,
  appliance,
  health,
  operators,
  tls,
  backup,
  update,
  mcp,
];

export const observers: Observers = {
  audit: features.flatMap((feature) => feature.observers?.audit ?? []),
  outlived: features.flatMap((feature) => feature.observers?.outlived ?? []),
};
