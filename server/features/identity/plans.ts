import { z } from "zod";
import type { Config } from "../../config.ts";
import type { Reader, Tx } from "../../kernel/db.ts";

/** Which plan an organization has: its own, or that of the settings. */

export type PlanName = Config["plan"];
const PlanName = z.enum(["free", "pay_as_you_go", "team", "business", "platform"]) satisfies z.ZodType<PlanName>;

type PlanRow = { organization: string; plan: string };

declare module "../../kernel/db.ts" {
  interface Tables {
    organization_plans: PlanRow;
  }
}

/** Null: that of the settings. */
export async function ownPlanOf(reader: Reader, organization: string): Promise<PlanName | null> {
  const row = await reader
    .selectFrom("organization_plans")
    .select("plan")
    .where("organization", "=", organization)
    .executeTakeFirst();
  return row ? PlanName.parse(row.plan) : null;
}

export async function planOf(
  reader: Reader,
  { config }: { config: Pick<Config, "plan"> },
  organization: string,
): Promise<PlanName> {
  return (await ownPlanOf(reader, organization)) ?? config.plan;
}

/** @param plan null: that of the settings */
export async function setPlan(tx: Tx, organization: string, plan: PlanName | null): Promise<void> {
  if (plan === null) await tx.deleteFrom("organization_plans").where("organization", "=", organization).execute();
  else
    await tx
      .insertInto("organization_plans")
      .values({ organization, plan })
      .onConflict((conflict) => conflict.column("organization").doUpdateSet({ plan }))
      .execute();
}
