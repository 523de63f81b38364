import * as watch from "../../kernel/clock-watch.ts";
import type { Deps } from "../../kernel/deps.ts";
import { thisMachine } from "../../kernel/guarded-clock.ts";
import type { Actor } from "../../kernel/wire.ts";
import { recordOperatorAct } from "../operators/service.ts";
import type { ClockState } from "./clock-contract.ts";

type ClockDeps = Pick<Deps, "clock" | "db">;

const shown = 20;

export async function readClock({ clock, db }: ClockDeps): Promise<ClockState> {
  const events = await watch.listClockEvents(db.read, shown);
  return {
    now: clock.ts(),
    doubt: clock.doubt?.() ?? null,
    events: events.map(({ kind, machine_at: machineAt, expected_at: expectedAt }) => ({ kind, machineAt, expectedAt })),
  };
}

/** An administrator says that the machine's clock is right; a running server takes it up within seconds. */
export async function acceptClock(deps: ClockDeps, actor: Actor): Promise<void> {
  const expected = deps.clock.ts();
  await watch.acceptClock(deps.db, thisMachine, expected, async (tx) => {
    const data = { machine: new Date(thisMachine.now()).toISOString(), expected };
    await recordOperatorAct(tx, deps, { actor, action: "clock.accepted", data });
  });
}
