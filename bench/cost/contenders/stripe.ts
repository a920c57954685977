import { Stripe } from "stripe";
import { type Calls, type Issue, type Item, type Session, type Setting, visitEach } from "../calls.ts";

/** Its own resources: it has no request for other paths that is made the way its own are. */
export async function connect({ origin, token, fetch }: Setting): Promise<Calls> {
  const { hostname, port } = new URL(origin);
  const stripe = new Stripe(token, {
    protocol: "http",
    host: hostname,
    port: port === "" ? 80 : Number(port),
    ...(fetch === undefined ? {} : { httpClient: Stripe.createFetchHttpClient(fetch) }),
  });
  // What comes back is what the server says, whatever the types say.
  return {
    getSession: async (id) => (await stripe.customers.retrieve(id)) as unknown as Session,
    createIssue: async (title) =>
      (await stripe.customers.create({ name: title, description: "bug" })) as unknown as Issue,
    walk: (limit, visit) => visitEach(stripe.customers.list({ limit }) as unknown as AsyncIterable<Item>, visit),
  };
}
