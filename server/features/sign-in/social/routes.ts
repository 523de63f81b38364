import { bind } from "../../../kernel/binding.ts";
import {
  deleteSocialIdentity,
  finishSocialSignIn,
  listSocialIdentities as listIdentities,
  startSocialSignIn,
} from "./contract.ts";
import { beginSocial, disconnectSocial, finishSocial, listSocialIdentities, type Way } from "./social.ts";

const redirect = ({ location, cookie }: Way) =>
  ({ status: 302, headers: { location, ...(cookie === null ? {} : { "set-cookie": cookie }) } }) as const;

export const bindings = [
  bind(startSocialSignIn)({
    async handle(deps, { params, query, request }) {
      return redirect(await beginSocial(deps, params.provider, query.returnTo, request));
    },
  }),
  bind(finishSocialSignIn)({
    async handle(deps, { params, query, request }) {
      return redirect(await finishSocial(deps, params.provider, query, request));
    },
  }),
  bind(listIdentities)({
    async handle(deps, { caller, query }) {
      return { status: 200, body: await listSocialIdentities(deps, caller.user, query) };
    },
  }),
  bind(deleteSocialIdentity)({
    async handle(deps, { caller, params }) {
      await disconnectSocial(deps, caller, params.provider);
      return { status: 204 };
    },
  }),
];
