/** A way to a store that loses one reply: the store has done what it was asked, and the connection breaks. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export class LossyProxy implements AsyncDisposable {
  /** The replies that were lost. */
  lost = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #text: string | undefined;

  private constructor(target: number) {
    this.#server = createServer((near) => this.#pass(near, connect(target, "127.0.0.1")));
  }

  static async start(target: number): Promise<LossyProxy> {
    const proxy = new LossyProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens on a port
  }

  /** Loses the reply to the next request that holds this text. */
  loseReplyTo(text: string): void {
    this.#text = text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #pass(near: Socket, far: Socket): void {
    let loses = false;
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    near.on("data", (request) => {
      if (this.#text !== undefined && request.includes(this.#text)) {
        this.#text = undefined;
        loses = true;
      }
      far.write(request);
    });
    far.on("data", (reply) => {
      if (!loses) return void near.write(reply);
      this.lost += 1;
      end();
    });
  }
}
