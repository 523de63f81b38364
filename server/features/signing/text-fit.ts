import type { TextFit } from "../../../workers/protocol.ts";
import type { SignerCaller } from "../../kernel/caller.ts";
import type { Deps } from "../../kernel/deps.ts";
import { AppError, invalid } from "../../kernel/errors.ts";
import { PoolBusy, TaskCrashed, type TaskOptions, TaskTimeout } from "../../kernel/pool.ts";
import { type ProblemError, pointer } from "../../kernel/problem.ts";
import type { RequestInfo } from "../../kernel/request.ts";
import type { FieldValue } from "../envelopes/contract.ts";
import { fieldsOf, versionOf } from "../envelopes/service.ts";
import type { FieldInput, PlacedField } from "../templates/contract.ts";
import { fieldDrawings, surelyFits } from "../templates/service.ts";
import type { FitTexts, TextsFitted } from "./contract.ts";
import { isReadOnly } from "./fields.ts";
import { loadSigner, requireTurn, requireVerified } from "./signer.ts";

/** Whether texts go into the boxes of their fields, as the thread that draws them measures it. */

/** Milliseconds that a signature waits for its measurement to begin, behind the uploads that share its threads, and to end. */
const patienceMs = 3_000;

/** A page asks while somebody types. */
const asksPerSession = { name: "signing-fit", points: 300, seconds: 60 };

/**
 * How the texts that a signer would enter go into their fields.
 * @throws AppError `otp-required`, `rate-limited`, `validation-failed`, and what `requireTurn` throws
 */
export async function fitTexts(
  deps: Deps,
  caller: SignerCaller,
  { fields: values }: FitTexts,
  { signal }: RequestInfo,
): Promise<TextsFitted> {
  const signer = await loadSigner(deps.db.read, caller, deps.clock.ts());
  requireVerified(signer);
  requireTurn(signer, deps.clock.ts());
  const { ok, resetSeconds } = await deps.limits.take(asksPerSession, caller.session);
  if (!ok) throw new AppError("rate-limited", { retryAfter: resetSeconds });
  const { record, recipient } = signer;
  const version = await versionOf(deps, deps.db.read, record.envelope);
  const fields = await fieldsOf(deps.db.read, record.envelope, version);
  const own = fields.filter(({ role }) => role === recipient.role);
  const errors = Object.keys(values)
    .filter((id) => !own.some((field) => field.id === id))
    .map((id): ProblemError => {
      return { pointer: fieldPointer(id), code: "reference", detail: "This is not a field of this signer." };
    });
  if (errors.length > 0) throw invalid(errors);
  const { locale } = record.envelope;
  const fits = await measure(deps, own, values, { locale, whileWaiting: signal }).catch((error: unknown) => {
    if (!(error instanceof TaskTimeout || error instanceof TaskCrashed)) throw error;
    throw new AppError("service-unavailable", { retryAfter: 5, cause: error });
  });
  return { fields: Object.fromEntries(fits) };
}

/**
 * What of a submission cannot be drawn so that it can be read. Fields that nobody can change are left out: refused, they
 * would keep the envelope from ever being completed.
 * @param values by field id: only what is shown
 */
export async function checkFit(
  deps: Deps,
  fields: readonly PlacedField[],
  values: Readonly<Record<string, FieldValue>>,
  locale: string,
): Promise<ProblemError[]> {
  const typed = fields.filter((field) => !isReadOnly(field) && typedIn.has(field.type));
  const plain = Object.fromEntries(typed.flatMap(({ id }) => (isPlain(values[id]) ? [[id, values[id]]] : [])));
  const patience = AbortSignal.timeout(patienceMs);
  const limits = { whileWaiting: patience, timeoutMs: patienceMs };
  const fits = await measure(deps, typed, plain, { locale, ...limits }).catch((error: unknown) => {
    // What takes too long to measure is no reason to turn a signature away: it is drawn, smaller if need be.
    if (!(patience.aborted || unmeasured.some((kind) => error instanceof kind))) throw error;
    deps.log.warn({ err: error }, "the texts of a submission could not be measured");
    return new Map<string, TextFit>();
  });
  return [...fits].flatMap(([id, { fits, room }]): ProblemError[] => {
    if (fits) return [];
    const detail = `This text is too long for its field: ${room ?? 0} of its characters fit.`;
    return [{ pointer: fieldPointer(id), code: "max", detail }];
  });
}

/** Whoever signs types these in; what a sender offers to choose from is theirs to keep short. */
const typedIn = new Set(["text_input", "number", "company", "job_title", "phone"]);

const unmeasured = [PoolBusy, TaskTimeout, TaskCrashed] as const;

const fieldPointer = (id: string) => pointer(["fields", id]);

function isPlain(value: FieldValue | undefined): value is FieldInput {
  return value !== undefined && (value === null || typeof value !== "object");
}

/** By field id; without those that hold no text. */
async function measure(
  deps: Deps,
  fields: readonly PlacedField[],
  values: Readonly<Record<string, FieldInput>>,
  { locale, ...limits }: { locale: string } & Pick<TaskOptions, "whileWaiting" | "timeoutMs">,
): Promise<Map<string, TextFit>> {
  const texts = fields.flatMap((field) =>
    fieldDrawings([field], values, { locale }).flatMap((drawing) =>
      drawing.kind === "text" && !surelyFits(drawing.text, field) ? [{ field, drawing }] : [],
    ),
  );
  if (texts.length === 0) return new Map();
  const measured = await deps.pool.run("fit", { drawings: texts.map(({ drawing }) => drawing) }, limits);
  if (!measured.ok) return new Map();
  const { fits } = measured.value;
  return new Map(
    texts.flatMap(({ field }, index): [string, TextFit][] => {
      const fit = fits[index];
      return fit ? [[field.id, fit]] : [];
    }),
  );
}
