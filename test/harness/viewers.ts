import { ViewerEnvelope, ViewerExchange } from "../../server/features/viewers/contract.ts";
import type { TestAppliance } from "./appliance.ts";
import { ok } from "./scenario.ts";

/** Token of the newest link that was mailed to this viewer. */
export async function viewerToken(app: TestAppliance, email: string): Promise<string> {
  const mails = await app.mail();
  const link = mails.find(({ kind, to }) => to.email === email && kind.startsWith("viewer_"))?.link;
  if (!link) throw new Error(`no link for the viewer ${email}`);
  return new URL(link).hash.slice(1);
}

export async function exchangeViewer(app: TestAppliance, token: string): Promise<ViewerExchange> {
  return ViewerExchange.parse((await ok(app, 200, "/v1/viewer/exchange", { key: null, json: { token } })).body);
}

/** Opens the mailed link. @returns the access token */
export async function enterAsViewer(app: TestAppliance, email: string): Promise<string> {
  return (await exchangeViewer(app, await viewerToken(app, email))).accessToken;
}

export async function statusFor(app: TestAppliance, bearer: string): Promise<ViewerEnvelope> {
  return ViewerEnvelope.parse((await ok(app, 200, "/v1/viewer/envelope", { key: { bearer } })).body);
}
