// A peer of the mesh in JavaScript: js-libp2p, nothing of zx1's own. It does what lines on standard input say, and says
// on standard output what happens, both one JSON object a line.
//
//   node peer.mjs ADDRESS KEYFILE      the node to dial, with its peer id; a Solana keypair file
//
//   {"do":"publish","topic":NAME,"hex":BYTES}   -> {"published":PEERS}
//   {"do":"send","hex":BYTES}                   -> {"answer":TEXT}: by a direct stream
//   {"do":"ping"}                               -> {"ping":MILLISECONDS}
//   {"do":"answer","text":TEXT}                 what it answers on direct streams from now on

import { gossipsub } from '@libp2p/gossipsub';
import { identify } from '@libp2p/identify';
import { noise } from '@chainsafe/libp2p-noise';
import { ping } from '@libp2p/ping';
import { privateKeyFromRaw } from '@libp2p/crypto/keys';
import { tcp } from '@libp2p/tcp';
import { yamux } from '@chainsafe/libp2p-yamux';
import { createLibp2p } from 'libp2p';
import { multiaddr } from '@multiformats/multiaddr';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const TOPICS = ['/0x01/v1/broadcast', '/0x01/v1/notary', '/0x01/v1/reputation'];
const DIRECT = '/0x01/bilateral/1.0.0';

const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
const hex = (bytes) => Buffer.from(bytes).toString('hex');

const frame = (bytes) => {
  const framed = Buffer.alloc(4 + bytes.length);
  framed.writeUInt32LE(bytes.length);
  framed.set(bytes, 4);
  return new Uint8Array(framed);
};

async function readFrame(stream) {
  let read = Buffer.alloc(0);
  for await (const chunk of stream) {
    read = Buffer.concat([read, chunk.subarray()]);
    if (read.length >= 4 && read.length >= 4 + read.readUInt32LE()) {
      return read.subarray(4, 4 + read.readUInt32LE());
    }
  }
  throw new Error(`the stream ended after ${read.length} bytes`);
}

const [address, keyFile] = process.argv.slice(2);
const privateKey = privateKeyFromRaw(Uint8Array.from(JSON.parse(readFileSync(keyFile))));
const node = await createLibp2p({
  privateKey,
  nodeInfo: { userAgent: 'zx1-js-peer' },
  addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
  transports: [tcp()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  services: {
    identify: identify(),
    ping: ping(),
    pubsub: gossipsub({ globalSignaturePolicy: 'StrictSign', emitSelf: false }),
  },
});

let answer = 'ACK';
await node.handle(DIRECT, async (stream) => {
  say({ direct: hex(await readFrame(stream)) });
  stream.send(frame(Buffer.from(answer)));
  await stream.close();
});
node.addEventListener('peer:identify', ({ detail }) => {
  say({ identified: { program: detail.agentVersion, protocols: detail.protocols } });
});
const { pubsub } = node.services;
pubsub.addEventListener('message', ({ detail }) => {
  say({ gossip: { topic: detail.topic, type: detail.type, from: detail.from?.toString(), hex: hex(detail.data) } });
});
TOPICS.forEach((topic) => pubsub.subscribe(topic));

const connection = await node.dial(multiaddr(address));
const inAllMeshes = () => TOPICS.every((topic) => pubsub.getMeshPeers(topic).length > 0);
while (!inAllMeshes()) await new Promise((resolve) => { setTimeout(resolve, 20); });
say({ ready: node.peerId.toString() });

const commands = {
  publish: async ({ topic, hex: bytes }) => {
    const { recipients } = await pubsub.publish(topic, Uint8Array.from(Buffer.from(bytes, 'hex')));
    return { published: recipients.length };
  },
  send: async ({ hex: bytes }) => {
    const stream = await node.dialProtocol(connection.remotePeer, DIRECT);
    stream.send(frame(Buffer.from(bytes, 'hex')));
    // A node that does not take it closes the stream without a byte.
    const read = await readFrame(stream).then((bytes) => bytes.toString(), () => '');
    await stream.close().catch(() => {});
    return { answer: read };
  },
  ping: async () => ({ ping: await node.services.ping.ping(connection.remotePeer) }),
  answer: async ({ text }) => {
    answer = text;
    return { answers: text };
  },
};
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  say(await commands[command.do](command));
}
await node.stop();
