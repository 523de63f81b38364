import { ProblemResponse } from "../../../shared/api/client.ts";
import { translator } from "../../../shared/i18n.ts";
import type { Bridge, Refusal } from "../shared/ipc.ts";
import type { NativeInput, NativeMethod, NativeOutput } from "../shared/native.ts";

declare global {
  interface Window {
    /** Put there by the preload script. */
    readonly signet: Bridge;
  }
}

const t = translator("console");

/** A call that came to nothing before the appliance could answer; the message is for people. */
export class Refused extends Error {
  readonly code: Refusal["code"];
  constructor(code: Refusal["code"]) {
    super(t(`refused.${code}`));
    this.name = "Refused";
    this.code = code;
  }
}

/** What a refusal is thrown as. */
export function errorOf({ code, problem }: Refusal): Error {
  return problem ? new ProblemResponse(problem) : new Refused(code);
}

/**
 * Asks the console itself for something.
 * @throws Refused, ProblemResponse
 */
export async function ask<M extends NativeMethod>(method: M, input?: NativeInput<M>): Promise<NativeOutput<M>> {
  // The main process has checked it by the method's schema.
  return (await askByName(method, input)) as NativeOutput<M>;
}

/** Asks for a method that is not known by its name here. @throws Refused, ProblemResponse */
export async function askByName(method: string, input: unknown): Promise<unknown> {
  const call = window.signet.methods[method];
  if (!call) throw new Refused("failed");
  const reply = await call(input);
  if (!reply.ok) throw errorOf(reply);
  return reply.value;
}
