import type { Deps } from "../../../kernel/deps.ts";
import { isOfIndex, isOutOfStep } from "../../envelopes/service.ts";
import { checkKeys } from "../../keys/service.ts";
import { namedTemplateFiles } from "../../retention/service.ts";
import {
  collect,
  confirmed,
  type Findings,
  type FsckProgress,
  type FsckReport,
  type FsckState,
  guarded,
  isThere,
  recordSteps,
} from "../findings.ts";
import * as store from "../store.ts";
import { checkActs } from "./acts.ts";
import { checkAnchors } from "./anchors.ts";
import { checkEnvelopes } from "./envelopes.ts";
import { checkFiles } from "./files.ts";
import { checkTree } from "./tree.ts";
import { checkQueue } from "./work.ts";

export type FsckOptions = {
  onProgress?: (progress: FsckProgress) => void;
  /** Where an earlier one stopped; the beginning when absent. */
  from?: FsckState | null;
  /** Called, one after another, where the check could be taken up again. */
  onState?: (state: FsckState) => Promise<void>;
  /** Ends it at the next such place, after `onState`. */
  signal?: AbortSignal;
  /** Threads that read files; as many as there are processors when absent. */
  threads?: number;
};

/** What a step may do besides finding: everything since the last `reached` counts from then on. */
export type Walk = {
  findings: Findings;
  /** @param move what stands behind it in the state @throws the reason of the signal */
  reached(move: (state: FsckState) => void): Promise<void>;
  progress(share: number): void;
};

/**
 * Walks every audit chain, revision, submission, sealed document, leaf, tree node, anchor, key, mail and file, and reports
 * what does not fit together. Files are read in threads beside the records. Changes nothing and goes on behind whatever
 * cannot be read; safe beside a running server. Holds a few envelopes, or pieces of files, at a time.
 * @throws the reason of `signal` when it is aborted
 */
export async function fsck(deps: Deps, options: FsckOptions = {}): Promise<FsckReport> {
  const state: FsckState = options.from ? structuredClone(options.from) : beginning(deps);
  const told = { share: 0, files: state.files.done ? 1 : 0 };
  const tell = () => options.onProgress?.({ ...told, step: state.records.step, bytes: state.bytes });
  let saved = Promise.resolve();
  /** Its findings enter the state together with its place, so that what is saved never counts half a part. */
  const walk = (part: "share" | "files"): Walk => {
    let own = collect();
    const findings: Findings = {
      count: (what, by) => own.findings.count(what, by),
      found: (...problem) => own.findings.found(...problem),
    };
    return {
      findings,
      async reached(move) {
        own.into(state.report);
        own = collect();
        move(state);
        state.at = deps.clock.ts();
        const standing = structuredClone(state);
        saved = saved.then(() => options.onState?.(standing));
        await saved;
        options.signal?.throwIfAborted();
      },
      progress(share) {
        told[part] = share;
        tell();
      },
    };
  };
  const results = await Promise.allSettled([
    checkRecords(deps, state, walk("share")),
    state.files.done ? undefined : checkFiles(deps, walk("files"), state.files.after, options.threads),
  ]);
  // Both have stopped before anybody is told, so that the last state is the one that was saved.
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return state.report;
}

function beginning(deps: Deps): FsckState {
  const report: FsckReport = { ok: true, checked: {}, problems: [], notes: [] };
  const records = { step: recordSteps[0], after: "" };
  return { v: 3, at: deps.clock.ts(), records, files: { done: false, after: "" }, bytes: 0, report };
}

async function checkRecords(deps: Deps, state: FsckState, walk: Walk): Promise<void> {
  const { findings } = walk;
  const steps = {
    database: () => guarded(findings, "signet.db", () => checkDatabase(deps, findings)),
    keys: () => confirmed(findings, "signing_keys", (own) => checkSigningKeys(deps, own)),
    acts: () => confirmed(findings, "acts", (own) => checkActs(deps, own)),
    templates: () => confirmed(findings, "templates", (own) => checkTemplates(deps, own)),
    envelopes: () => checkEnvelopes(deps, walk, state.records.after),
    tree: async () => {
      await confirmed(findings, "tree", (own) => checkTree(deps, own, walk.progress));
      await confirmed(findings, "anchors", (own) => checkAnchors(deps, own));
    },
    queue: () => confirmed(findings, "queue", (own) => checkQueue(deps, own)),
  };
  await guarded(findings, "envelopes", () => tellSkipped(deps, state, findings));
  for (const step of recordSteps.slice(stepIndex(state.records))) {
    walk.progress(0);
    await steps[step]();
    await walk.reached(({ records }) => {
      records.step = recordSteps[recordSteps.indexOf(step) + 1] ?? "done";
      records.after = "";
    });
  }
  walk.progress(1);
}

/** A resumed check goes on in the order of ids, which is not that of creation. */
async function tellSkipped(deps: Deps, { records, at }: FsckState, findings: Findings): Promise<void> {
  if (stepIndex(records) < recordSteps.indexOf("envelopes")) return;
  const upTo = records.step === "envelopes" ? records.after : lastId;
  const skipped = await store.countCreatedSince(deps.db.read, { upTo, since: at });
  if (skipped > 0)
    findings.found(
      "resume-skipped",
      "envelopes",
      `${skipped} were created since the check stopped, and are not looked at`,
    );
}

/** Sorts behind every id. */
const lastId = "~";

const stepIndex = ({ step }: FsckState["records"]) =>
  step === "done" ? recordSteps.length : recordSteps.indexOf(step);

async function checkDatabase(deps: Deps, findings: Findings): Promise<void> {
  for (const line of await deps.db.check()) {
    const code = line.startsWith("a row of ") ? "database-reference" : "database-page";
    findings.found(isOfIndex(line) ? "search-index" : code, "signet.db", line);
  }
  if (await isOutOfStep(deps.db.read))
    findings.found("search-index", "signet.db", "the index of the search does not hold the envelopes that there are");
}

async function checkSigningKeys(deps: Deps, findings: Findings): Promise<void> {
  const { keys, problems } = await checkKeys(deps);
  findings.count("keys", keys);
  for (const { key, part, message } of problems)
    findings.found(part === "private" ? "key-private" : "key-certificate", `key ${key}`, message);
}

/** Files of templates, which no envelope may have used yet. */
async function checkTemplates(deps: Deps, findings: Findings): Promise<void> {
  findings.count("template files", 0);
  for await (const { template, sha256 } of namedTemplateFiles(deps.db.read)) {
    findings.count("template files");
    await isThere(deps, findings, { sha256, where: template });
  }
}
