import "../../server/node-version.ts";
import { table } from "../../server/commands/command.ts";
import { benchApi } from "./api.ts";
import { benchBackup } from "./backup.ts";
import { benchCapacity } from "./capacity.ts";
import { benchCertificate } from "./certificate.ts";
import { benchEditor } from "./editor.ts";
import { benchFsck } from "./fsck.ts";
import { benchMerkle } from "./merkle.ts";
import { benchProposals } from "./proposals.ts";
import { benchQueue } from "./queue.ts";
import { type BenchResult, benchSeal } from "./seal.ts";
import { benchSealing } from "./sealing.ts";
import { benchSignIn } from "./sign-in.ts";
import { benchStamp } from "./stamp.ts";
import { benchStreams } from "./streams.ts";
import { benchTree } from "./tree.ts";
import { benchUpload } from "./upload.ts";
import { benchVerifyPage } from "./verify-page.ts";
import { benchWebhooks } from "./webhooks.ts";

/** `npm run bench [-- seal|sealing|stamp|upload|proposals|certificate|merkle|tree|fsck|backup|api|sign-in|verify-page|editor|events|queue|capacity]`: ratios first, each of two things measured in turns in this run. */
const all: Record<string, () => Promise<BenchResult[]>> = {
  seal: benchSeal,
  sealing: benchSealing,
  stamp: benchStamp,
  upload: benchUpload,
  proposals: benchProposals,
  certificate: benchCertificate,
  merkle: benchMerkle,
  tree: benchTree,
  fsck: benchFsck,
  backup: benchBackup,
  api: benchApi,
  "sign-in": benchSignIn,
  "verify-page": benchVerifyPage,
  editor: benchEditor,
  events: async () => [...(await benchWebhooks()), ...(await benchStreams())],
  queue: benchQueue,
  capacity: benchCapacity,
};
const chosen = process.argv.slice(2).filter((name) => name in all);
const results: BenchResult[] = [];
for (const name of chosen.length > 0 ? chosen : Object.keys(all)) results.push(...((await all[name]?.()) ?? []));
console.log(
  table([
    ["RATIO", "TARGET", "WHAT", "FIGURES"],
    ...results.map(({ ratio, target, name, detail }) => [ratio.toFixed(2), target, name, detail]),
  ]),
);
process.exit(0);
