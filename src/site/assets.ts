// Styles, browser modules, fonts and sample files, loaded into memory at startup. Their paths share one version, a hash
// of all contents, so browsers can cache them forever. Modules keep the paths that they have in the source, so that
// they can import each other, and pure modules of the service, by relative paths.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../shared/errors.ts';
import type { RouteGroup } from '../service/http/route-group.ts';
import { must } from '../shared/must.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.mp4': 'video/mp4',
  '.woff2': 'font/woff2',
};
/** The path of the browser modules in the source. */
const BROWSER_MODULES = 'site/browser';
const COMPRESSIBLE = new Set(['.css', '.js', '.svg']);
const compress = promisify(brotliCompress);

interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  readonly isCompressible: boolean;
  /** Compressed at the first request, because compressing all files would take a second of each start. */
  compressed?: Promise<Buffer>;
}

export interface AssetSources {
  /** Folders whose files of known types are served, including subfolders. */
  readonly folders: readonly string[];
  /** Additional files by the name they are served under. */
  readonly files: Readonly<Record<string, string>>;
}

export class Assets {
  readonly #assets: ReadonlyMap<string, Asset>;
  readonly version: string;

  private constructor(assets: ReadonlyMap<string, Asset>) {
    this.#assets = assets;
    const hash = createHash('sha256');
    for (const [name, { bytes }] of assets) hash.update(`${name}\0${bytes.length}\0`).update(bytes);
    this.version = hash.digest('base64url').slice(0, 12);
  }

  static async load({ folders, files }: AssetSources): Promise<Assets> {
    const listed = await Promise.all(folders.map(list));
    const sources = [...listed.flat(), ...Object.entries(files)]
      .filter(([name]) => TYPES[path.extname(name)] !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    return new Assets(
      new Map(await Promise.all(sources.map(async ([name, file]) => [name, await read(file)] as const))),
    );
  }

  /** Throws for an unknown name, which is a bug in the page. */
  url(name: string): string {
    if (!this.#assets.has(name)) throw new Error(`unknown asset ${name}`);
    return `/assets/${this.version}/${name}`;
  }

  moduleUrl(name: string): string {
    return this.url(`${BROWSER_MODULES}/${name}`);
  }

  bytes(name: string): Buffer {
    return must(this.#assets.get(name), `the asset ${name}`).bytes;
  }

  get routes(): RouteGroup {
    return {
      register: (app) => {
        app.get<{ Params: { version: string; '*': string } }>('/assets/:version/*', async (request, reply) => {
          const { version, '*': name } = request.params;
          return await this.#send(request, reply, { version, name });
        });
      },
    };
  }

  async #send(
    request: FastifyRequest,
    reply: FastifyReply,
    { version, name }: { version: string; name: string },
  ): Promise<FastifyReply> {
    const asset = this.#assets.get(name);
    if (asset === undefined) throw new AppError('not_found', "That file doesn't exist.");
    // During a rolling update, a page may come from another version of the server. Our file is better than none, but
    // the browser must not cache it.
    const cacheControl = version === this.version ? 'public, max-age=31536000, immutable' : 'no-cache';
    reply.headers({ 'content-type': asset.type, 'cache-control': cacheControl, vary: 'accept-encoding' });
    if (!asset.isCompressible || !/\bbr\b/u.test(String(request.headers['accept-encoding']))) {
      return reply.send(asset.bytes);
    }
    asset.compressed ??= compress(asset.bytes);
    return reply.header('content-encoding', 'br').send(await asset.compressed);
  }
}

/** Lists the files of a folder, with the names they are served under. */
async function list(folder: string): Promise<(readonly [name: string, file: string])[]> {
  const names = await readdir(folder, { recursive: true });
  return names.map((name) => [name.split(path.sep).join('/'), path.join(folder, name)]);
}

async function read(file: string): Promise<Asset> {
  const bytes = await readFile(file);
  const extension = path.extname(file);
  const type = must(TYPES[extension], `content type of ${extension}`);
  return { type, bytes, isCompressible: COMPRESSIBLE.has(extension) };
}
