//! Tables of C and C++: which header declares a name, which library defines a function.
//!
//! The names are those of the ISO C, ISO C++ and POSIX standards and of the libraries' own manuals.

/// The C header of a type, macro or function.
pub(crate) fn c_header(name: &str) -> Option<&'static str> {
    C_HEADERS.iter().find(|(_, names)| names.split(' ').any(|known| known == name)).map(|(header, _)| *header)
}

/// The C++ header of a name of `std`.
pub(crate) fn std_header(name: &str) -> Option<&'static str> {
    STD_HEADERS
        .iter()
        .find(|(_, names)| names.split(' ').any(|known| known == name))
        .map(|(header, _)| *header)
}

/// The library, as in `-lm`, that defines a C function.
pub(crate) fn library(symbol: &str) -> Option<&'static str> {
    // Versioned symbols read `cos@@GLIBC_2.2.5`; float and long double variants end in f and l.
    let symbol = symbol.split('@').next().unwrap_or(symbol);
    if LIBM.split(' ').any(|name| symbol == name || symbol.strip_suffix(['f', 'l']) == Some(name)) {
        return Some("m");
    }
    LIBRARIES
        .iter()
        .find(|(_, names)| {
            names.split(' ').any(|known| match known.strip_suffix('*') {
                Some(prefix) => symbol.starts_with(prefix),
                None => symbol == known,
            })
        })
        .map(|(library, _)| *library)
}

const C_HEADERS: &[(&str, &str)] = &[
    (
        "stdio.h",
        "printf fprintf sprintf snprintf vprintf vfprintf vsnprintf scanf fscanf sscanf puts putchar \
        getchar fgets \
         fputs fopen fclose fread fwrite fseek ftell rewind fflush perror remove rename tmpfile getline \
         popen pclose \
         fileno fdopen getc putc fgetc fputc ungetc feof ferror FILE EOF stdin stdout stderr BUFSIZ \
         SEEK_SET SEEK_CUR \
         SEEK_END fpos_t",
    ),
    (
        "stdlib.h",
        "malloc calloc realloc free exit abort atexit atoi atol atoll atof strtol strtoul strtoll \
        strtoull strtod \
         rand srand qsort bsearch getenv setenv system abs labs llabs div EXIT_SUCCESS EXIT_FAILURE \
         RAND_MAX mkstemp \
         realpath",
    ),
    (
        "string.h",
        "strlen strcpy strncpy strcat strncat strcmp strncmp strchr strrchr strstr strtok strdup strndup \
        memcpy \
         memmove memset memcmp memchr strerror strspn strcspn strpbrk strtok_r strnlen",
    ),
    ("strings.h", "strcasecmp strncasecmp bzero"),
    (
        "math.h",
        "sqrt pow sin cos tan asin acos atan atan2 sinh cosh tanh exp exp2 log log2 log10 floor ceil \
        round trunc \
         fabs fmod hypot cbrt fmin fmax lround M_PI M_E INFINITY NAN HUGE_VAL isnan isinf",
    ),
    (
        "ctype.h",
        "isalpha isdigit isalnum isspace isupper islower ispunct isprint isxdigit iscntrl toupper tolower",
    ),
    (
        "stdint.h",
        "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t \
        uintmax_t \
         int_fast8_t uint_fast8_t INT8_MAX INT16_MAX INT32_MAX INT64_MAX UINT8_MAX UINT16_MAX UINT32_MAX \
         UINT64_MAX \
         INT8_MIN INT16_MIN INT32_MIN INT64_MIN SIZE_MAX UINTPTR_MAX",
    ),
    ("inttypes.h", "PRId64 PRIu64 PRIx64 PRId32 PRIu32 PRIx32 PRIuPTR SCNu64 SCNd64"),
    ("stdbool.h", "bool true false"),
    ("stddef.h", "NULL size_t ptrdiff_t offsetof wchar_t max_align_t"),
    (
        "limits.h",
        "INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX LLONG_MAX LLONG_MIN ULLONG_MAX CHAR_BIT \
        CHAR_MAX \
         CHAR_MIN SCHAR_MAX UCHAR_MAX SHRT_MAX SHRT_MIN USHRT_MAX PATH_MAX",
    ),
    ("float.h", "DBL_MAX DBL_MIN DBL_EPSILON FLT_MAX FLT_MIN FLT_EPSILON LDBL_MAX"),
    ("errno.h", "errno ENOENT EINVAL EAGAIN EINTR ENOMEM EACCES EEXIST ERANGE EPIPE EWOULDBLOCK"),
    ("assert.h", "assert static_assert"),
    ("stdarg.h", "va_list va_start va_end va_arg va_copy"),
    ("setjmp.h", "jmp_buf setjmp longjmp"),
    (
        "signal.h",
        "signal sigaction raise kill SIGINT SIGTERM SIGSEGV SIGKILL SIGALRM SIGCHLD SIGPIPE sigset_t \
        sig_atomic_t \
         sigemptyset SIG_IGN SIG_DFL",
    ),
    (
        "time.h",
        "time clock difftime mktime localtime gmtime strftime time_t clock_t CLOCKS_PER_SEC nanosleep \
        clock_gettime \
         localtime_r gmtime_r CLOCK_MONOTONIC CLOCK_REALTIME",
    ),
    ("locale.h", "setlocale LC_ALL localeconv"),
    ("wchar.h", "wprintf wcslen wcscpy fgetws"),
    (
        "unistd.h",
        "read write close fork execv execvp execlp execl pipe dup dup2 sleep usleep getpid getppid getuid \
        chdir \
         getcwd unlink rmdir access isatty lseek ftruncate STDIN_FILENO STDOUT_FILENO STDERR_FILENO \
         getopt optarg \
         optind alarm sysconf _exit",
    ),
    ("fcntl.h", "open fcntl O_RDONLY O_WRONLY O_RDWR O_CREAT O_TRUNC O_APPEND O_NONBLOCK O_CLOEXEC"),
    ("sys/stat.h", "stat fstat lstat mkdir chmod S_ISDIR S_ISREG S_IRUSR S_IWUSR mode_t umask"),
    ("sys/wait.h", "wait waitpid WIFEXITED WEXITSTATUS WIFSIGNALED WTERMSIG WNOHANG"),
    ("sys/time.h", "gettimeofday setitimer"),
    ("sys/types.h", "pid_t ssize_t off_t uid_t gid_t"),
    ("sys/mman.h", "mmap munmap mprotect MAP_FAILED MAP_PRIVATE MAP_SHARED PROT_READ PROT_WRITE"),
    (
        "sys/socket.h",
        "socket bind listen accept connect send recv sendto recvfrom setsockopt AF_INET SOCK_STREAM",
    ),
    ("netinet/in.h", "INADDR_ANY INADDR_LOOPBACK IPPROTO_TCP in_addr_t"),
    ("arpa/inet.h", "inet_pton inet_ntop inet_addr inet_ntoa htons htonl ntohs ntohl"),
    ("netdb.h", "getaddrinfo freeaddrinfo gai_strerror gethostbyname"),
    (
        "pthread.h",
        "pthread_create pthread_join pthread_t pthread_mutex_t pthread_mutex_lock pthread_mutex_unlock \
      pthread_mutex_init PTHREAD_MUTEX_INITIALIZER pthread_cond_t pthread_self pthread_detach",
    ),
    ("dirent.h", "opendir readdir closedir DIR"),
    ("dlfcn.h", "dlopen dlsym dlclose dlerror RTLD_NOW RTLD_LAZY"),
    ("getopt.h", "getopt_long no_argument required_argument optional_argument"),
    ("poll.h", "poll POLLIN POLLOUT POLLERR"),
    ("regex.h", "regcomp regexec regfree regex_t REG_EXTENDED"),
    ("stdatomic.h", "atomic_int atomic_bool atomic_fetch_add atomic_load atomic_store"),
    ("threads.h", "thrd_create thrd_join mtx_t thrd_t"),
    ("libgen.h", "basename dirname"),
];

const STD_HEADERS: &[(&str, &str)] = &[
    ("iostream", "cout cerr clog cin wcout wcerr"),
    ("vector", "vector"),
    ("string", "string wstring to_string stoi stol stoll stoul stod stof getline"),
    ("string_view", "string_view"),
    ("map", "map multimap"),
    ("set", "set multiset"),
    ("unordered_map", "unordered_map unordered_multimap"),
    ("unordered_set", "unordered_set unordered_multiset"),
    (
        "algorithm",
        "sort stable_sort find find_if count count_if copy copy_if transform reverse max_element min_element \
         for_each all_of any_of none_of remove remove_if unique lower_bound upper_bound binary_search \
         fill replace \
         shuffle nth_element equal rotate clamp max min",
    ),
    ("numeric", "accumulate iota inner_product partial_sum reduce gcd lcm"),
    ("memory", "unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this"),
    ("functional", "function bind greater less plus hash ref cref reference_wrapper"),
    ("utility", "move forward pair make_pair swap exchange declval"),
    ("tuple", "tuple make_tuple tie"),
    ("array", "array"),
    ("deque", "deque"),
    ("list", "list"),
    ("queue", "queue priority_queue"),
    ("stack", "stack"),
    ("optional", "optional nullopt make_optional"),
    ("variant", "variant visit get_if holds_alternative monostate"),
    ("any", "any any_cast"),
    ("sstream", "stringstream ostringstream istringstream"),
    ("fstream", "ifstream ofstream fstream"),
    ("iomanip", "setw setprecision setfill put_time quoted"),
    ("thread", "thread this_thread jthread"),
    ("mutex", "mutex lock_guard unique_lock scoped_lock recursive_mutex call_once once_flag"),
    ("atomic", "atomic atomic_flag atomic_int"),
    ("condition_variable", "condition_variable"),
    ("future", "future promise async packaged_task"),
    ("chrono", "chrono"),
    ("filesystem", "filesystem"),
    (
        "random",
        "mt19937 random_device uniform_int_distribution uniform_real_distribution default_random_engine",
    ),
    ("regex", "regex smatch regex_match regex_search regex_replace"),
    ("stdexcept", "runtime_error logic_error invalid_argument out_of_range domain_error overflow_error"),
    ("exception", "exception terminate current_exception exception_ptr"),
    ("limits", "numeric_limits"),
    ("bitset", "bitset"),
    ("complex", "complex"),
    ("initializer_list", "initializer_list"),
    ("iterator", "back_inserter ostream_iterator istream_iterator distance advance next prev inserter"),
    ("type_traits", "is_same enable_if enable_if_t decay_t is_integral remove_reference_t conditional_t"),
    ("span", "span"),
    ("format", "format"),
    ("cstdint", "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t"),
    ("cmath", "sqrt pow sin cos tan floor ceil round fabs fmod log log10 exp hypot abs"),
    ("cstdio", "printf fprintf snprintf puts fopen"),
    ("cstdlib", "exit malloc free getenv atoi"),
    ("cstring", "strlen strcmp memcpy memset strcpy"),
    ("cassert", "assert"),
    ("climits", "INT_MAX INT_MIN"),
];

const LIBM: &str = "sqrt pow sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 \
    expm1 log log2 \
     log10 log1p floor ceil round trunc rint nearbyint lround llround fabs fmod remainder hypot cbrt fmin \
     fmax fma erf \
     erfc tgamma lgamma frexp ldexp modf sincos";

const LIBRARIES: &[(&str, &str)] = &[
    ("pthread", "pthread_* sem_init sem_wait sem_post sem_destroy"),
    ("dl", "dlopen dlsym dlclose dlerror dladdr"),
    ("rt", "shm_open shm_unlink timer_create timer_settime mq_open mq_send mq_receive aio_read aio_write"),
    ("crypt", "crypt crypt_r"),
    (
        "z",
        "deflate deflateInit_ deflateEnd inflate inflateInit_ inflateEnd compress uncompress crc32 gzopen \
        gzread \
      gzclose gzwrite",
    ),
    ("ncurses", "initscr endwin printw refresh getch wrefresh noecho cbreak keypad newwin mvprintw"),
    ("readline", "readline add_history"),
    ("crypto", "EVP_* SHA256 SHA1 MD5 RAND_bytes BN_*"),
    ("ssl", "SSL_* TLS_client_method TLS_server_method TLS_method"),
    ("curl", "curl_*"),
    ("sqlite3", "sqlite3_*"),
    ("uuid", "uuid_generate uuid_parse uuid_unparse uuid_generate_random"),
    ("ffi", "ffi_call ffi_prep_cif"),
    ("xml2", "xmlReadFile xmlParseFile xmlFreeDoc xmlDocGetRootElement"),
    ("gmp", "__gmpz_* __gmpq_*"),
    ("jpeg", "jpeg_*"),
    ("png", "png_*"),
    ("bz2", "BZ2_*"),
    ("lzma", "lzma_*"),
    ("resolv", "ns_initparse __res_query"),
    ("X11", "XOpenDisplay XCloseDisplay XCreateSimpleWindow XMapWindow"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_find_their_library() {
        for (symbol, expected) in [
            ("sqrt", Some("m")),
            ("sqrtf", Some("m")),
            ("cosl", Some("m")),
            ("cos@@GLIBC_2.2.5", Some("m")),
            ("pthread_create", Some("pthread")),
            ("SSL_new", Some("ssl")),
            ("deflate", Some("z")),
            ("helper", None),
            ("sqrtx", None),
            ("", None),
        ] {
            assert_eq!(library(symbol), expected, "{symbol}");
        }
    }

    #[test]
    fn no_c_name_stands_under_two_headers() {
        let mut seen = std::collections::BTreeMap::new();
        for (header, names) in C_HEADERS {
            for name in names.split(' ').filter(|name| !name.is_empty()) {
                assert_eq!(seen.insert(name, header), None, "{name}");
            }
        }
    }
}
